"""How the tests in Python are run. With COOP_TESTS_MUST_RUN=1 a skipped test is a failure.

usage: run_tests.py ARGUMENTS OF unittest    for tests that do not call main() themselves
"""

import os
import sys
import unittest

MUST_RUN = os.environ.get("COOP_TESTS_MUST_RUN") == "1"


def only_if(condition):
    """For a test or class that another run of the same file covers (as root, with another program): elsewhere there is none."""
    return lambda test: test if condition else None


def need(*missing):
    """Ends the program when something that all of its tests need is missing."""
    if missing:
        print("missing:", *missing, file=sys.stderr)
        sys.exit(1 if MUST_RUN else 77)


def main(module="__main__"):
    result = unittest.main(module, exit=False).result
    if MUST_RUN and result.skipped:
        print("these tests did not run, and every test must (COOP_TESTS_MUST_RUN):", file=sys.stderr)
        print(*(f"  {test}: {why}" for test, why in result.skipped), sep="\n", file=sys.stderr)
        sys.exit(1)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main(module=None)
