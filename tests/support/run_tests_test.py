"""A skipped test fails where every test must run, and one that another run covers does not."""

import os
import subprocess
import sys
import tempfile
import unittest

import run_tests

HERE = os.path.dirname(os.path.abspath(__file__))


def status_of(decorator, **environment):
    """The exit status of a file with one test that has this decorator, and one without."""
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "test_it.py"), "w", encoding="utf-8") as file:
            file.write(f"import unittest\nfrom run_tests import only_if\nclass It(unittest.TestCase):\n"
                       f"    @{decorator}\n    def test_it(self): pass\n    def test_other(self): pass\n")
        return subprocess.run([sys.executable, os.path.join(HERE, "run_tests.py"), "discover", "-s", place], capture_output=True,
                              check=False, env={**os.environ, "PYTHONPATH": HERE, "COOP_TESTS_MUST_RUN": "", **environment}).returncode


class RunTests(unittest.TestCase):
    def test_a_skipped_test_fails_where_every_test_must_run(self):
        skipped = "unittest.skipUnless(False, 'no such program')"
        self.assertEqual(status_of(skipped), 0)
        self.assertEqual(status_of(skipped, COOP_TESTS_MUST_RUN="1"), 1)

    def test_one_that_another_run_covers_is_not_there(self):
        self.assertEqual(status_of("only_if(False)", COOP_TESTS_MUST_RUN="1"), 0)

    def test_a_failure_is_one_in_any_case(self):
        failing = "(lambda test: lambda self: self.fail())"
        self.assertEqual(status_of(failing), 1)


if __name__ == "__main__":
    run_tests.main()
