"""scripts/check_rows on a made-up list of requirements, tests and results."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import run_tests

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check_rows")
LAST = {0: 47, 1: 32, 2: 22, 3: 26, 4: 50}
ENTRIES = ["Plain.Test", "Kernel.Test.as_caller", 'All/Many.Test/one  # GetParam() = "one"',
           'All/Many.Test/two  # GetParam() = "two"', "clients.some.as_caller", "clients.some.as_user"]


def rows(**other):
    """Every row, open unless it is given as r0_1=…"""
    lines = [other.get(f"r{document}_{row}", f"{document}.{row} open later  # something")
             for document, last in LAST.items() for row in range(1, last + 1)]
    return "# a comment\n\n" + "\n".join(lines) + "\n"


def log(**other):
    """What ctest prints, where a result is not given as ENTRY="***Failed"."""
    width = max(map(len, ENTRIES)) + 4
    return "".join(f" {number}/{len(ENTRIES)} Test #{number}: {(entry + ' ').ljust(width, '.')}"
                   f"{other.get(entry.split('.')[0], '   Passed')}    0.01 sec\n" for number, entry in enumerate(ENTRIES, 1))


class CheckRows(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        for directory in ("scripts", "tests", "build", "docs/adr"):
            os.makedirs(os.path.join(self.place, directory))
        shutil.copy(SCRIPT, os.path.join(self.place, "scripts"))
        self.write("docs/adr/0007-seven.md", "")
        self.write("build/CTestTestfile.cmake", "".join(f"add_test([=[{entry}]=] true)\n" for entry in ENTRIES))

    def write(self, name, text):
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, text, *logs):
        """Exit status and output."""
        self.write("tests/rows.txt", text)
        names = [self.write(f"build/{number}.log", one) for number, one in enumerate(logs)]
        ran = subprocess.run([sys.executable, os.path.join(self.place, "scripts/check_rows"), os.path.join(self.place, "build"), *names],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.stderr, "")
        return ran.returncode, ran.stdout

    def test_rows_are_listed_and_counted(self):
        status, said = self.check(rows(r0_1="0.1 Plain.Test Many.Test  # both", r0_2="0.2 decided ADR-7 clients.some  # else",
                                       r0_3="0.3 decided docs/adr/0007-seven.md  # else"))
        self.assertEqual(status, 0, said)
        self.assertIn("0.1   Plain.Test Many.Test  # both\n0.2   decided ADR-7 clients.some  # else\n", said)
        self.assertIn("\n4.50  open later  # something\n", said)
        self.assertTrue(said.endswith("rows: 1 tested, 2 decided, 174 open\n"), said)

    def test_each_row_is_there_once(self):
        for text, why in ((rows(r0_1=""), "row 0.1 is missing"), (rows(r0_1="0.2 open x  # y"), "row 0.2 is given twice"),
                          (rows() + "4.51 open x  # y\n", "there is no row 4.51"), (rows(r3_1="3.1 open x"), "row 3.1: write"),
                          (rows(r3_1="3.1  # nothing"), "row 3.1: write"), (rows(r3_1="3.1 open  # y"), "row 3.1: write")):
            status, said = self.check(text)
            self.assertEqual(status, 1)
            self.assertIn(why, said)

    def test_what_a_row_names_exists(self):
        for line, why in (("0.1 Plain.Other  # x", 'no test "Plain.Other"'), ("0.1 Plain  # x", 'no test "Plain"'),
                          ("0.1 open later Plain.Other  # x", 'no test "Plain.Other"'),
                          ("0.1 decided ADR-8  # x", 'no document "ADR-8"'), ("0.1 decided docs/no.md  # x", 'no document "docs/no.md"')):
            status, said = self.check(rows(r0_1=line))
            self.assertEqual(status, 1)
            self.assertIn(why, said)

    def test_what_a_row_names_was_executed_and_passed(self):
        text = rows(r0_1="0.1 Plain.Test Kernel.Test Many.Test clients.some  # x")
        self.assertEqual(self.check(text, log())[0], 0)
        first, second = log().splitlines(keepends=True)[:3], log().splitlines(keepends=True)[3:]
        self.assertEqual(self.check(text, "".join(first), "".join(second))[0], 0)
        status, said = self.check(text, "".join(first))
        self.assertEqual(status, 1)
        self.assertIn("clients.some.as_user: was not executed", said)
        for result in ("***Failed", "***Skipped", "***Not Run (Disabled)", "***Exception: SegFault", "***Timeout"):
            status, said = self.check(text, log(Kernel=result))
            self.assertEqual(status, 1)
            self.assertIn(f"row 0.1: Kernel.Test.as_caller: {result}", said)


if __name__ == "__main__":
    run_tests.main()
