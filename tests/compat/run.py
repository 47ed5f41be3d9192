#!/usr/bin/python3
"""Runs tests of CPython and Go bare and in a sandbox, and compares which of them pass.

usage: run.py COOP [short|long]

A test that passes bare and fails, is skipped or is missing inside is a difference. known.txt has those that are known,
each with its reason; any other fails. Packages: scripts/packages.txt, section [compat]. Exit status 77: they are missing.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
CPYTHON = {
    "short": "test_os test_posix test_pwd test_grp test_tempfile test_shutil test_pathlib test_fcntl test_mmap "
             "test_resource test_select test_poll test_stat test_pty test_mailbox".split(),
    "long": "test_subprocess test_signal test_socket test_asyncio test_multiprocessing_fork test_threading test_selectors "
            "test_epoll test_zipfile test_tarfile test_sqlite3 test_locale test_venv test_ssl test_urllib".split()}
GO = {"short": ["os", "os/exec", "os/user", "net", "syscall", "path/filepath"],
      "long": ["net/http", "os/signal", "time", "runtime", "io/fs", "internal/poll"]}
MOST_SECONDS = {"short": 240, "long": 1800}


def environment(home):
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**keep, "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}


class Place:
    """Where tests run: on this machine, or in a sandbox whose workspace is the same directory."""

    def __init__(self, coop, top):
        self.coop, self.top = coop, top
        self.name = "inside" if coop else "bare"
        self.work = os.path.join(top, self.name)
        os.makedirs(self.work)
        self.inside = "/work" if coop else self.work

    def run(self, words, seconds, directory=None, more=()):
        """`more`: further flags for coop."""
        if self.coop:
            words = [self.coop, "run", "--quiet", "--no-tty", "--workspace", self.work,
                     "--chdir", directory or "/work", *more, "--"] + words
        done = subprocess.run(words, cwd=(directory or self.work) if not self.coop else self.work, timeout=seconds,
                              env=environment(self.work), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace")
        return done.stdout


def run_cpython(place, module, seconds):
    """Outcome by name of a test: "ok", "failed" or "skipped"."""
    report = os.path.join(place.work, module + ".xml")
    output = place.run([PYTHON, "-m", "test", "--junit-xml", f"{place.inside}/{module}.xml", module], seconds)
    if not os.path.exists(report):
        return {module: "skipped" if "skipped" in output else "failed"}, output
    found = {}
    for case in xml.parse(report).iter("testcase"):
        bad = case.find("error") is not None or case.find("failure") is not None
        found[case.get("name")] = "failed" if bad else "skipped" if case.find("skipped") is not None else "ok"
    return found, output


def run_go(place, package, program, source, seconds):
    shutil.copy(program, os.path.join(place.work, os.path.basename(program)))
    words = [f"{place.inside}/{os.path.basename(program)}", "-test.short", "-test.v"]
    output = place.run(words, seconds, os.path.join(source, package))
    kinds = {"PASS": "ok", "FAIL": "failed", "SKIP": "skipped"}
    found = {f"{package}.{name}": kinds[kind]
             for kind, name in re.findall(r"--- (PASS|FAIL|SKIP): (\S+)", output)}
    return found or {package: "failed"}, output


def known_differences(file="known.txt"):
    known = []
    with open(os.path.join(HERE, file)) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                pattern, reason = line.strip().split(None, 1)
                known.append((pattern, reason))
    return known


def unknown(bare, inside, known, used):
    """Names of the tests that differ and are not known; adds to `used` the patterns of those that are."""
    new = []
    for name, outcome in bare.items():
        if outcome != "ok" or inside.get(name) == "ok":
            continue
        match = next((pattern for pattern, _ in known if fnmatch.fnmatchcase(name, pattern)), None)
        used.add(match) if match else new.append(name)
    return new


def compare(bare, inside, output, known, used):
    new = sorted(unknown(bare, inside, known, used))
    for name in new:
        print(f"DIFFERENT {name}: passes bare, inside: {inside.get(name, 'missing')}")
        short = name.rsplit(".", 1)[-1]
        at = output.find(short)
        print("   | " + output[max(0, at - 200):at + 1200].replace("\n", "\n   | ") if at >= 0 else "")
    return new


def build_go(package, top):
    program = os.path.join(top, package.replace("/", "_") + ".test")
    env = {**environment(top), "GOCACHE": os.path.join(top, "cache"), "GOFLAGS": "-buildvcs=false"}
    done = subprocess.run(["go", "test", "-c", "-o", program, package], env=env, cwd=top)
    return program if done.returncode == 0 else None


def main():
    coop = os.path.abspath(sys.argv[1])
    size = sys.argv[2] if len(sys.argv) > 2 else "short"
    modules = CPYTHON["short"] + (CPYTHON["long"] if size == "long" else [])
    packages = GO["short"] + (GO["long"] if size == "long" else [])
    have_python = subprocess.run([PYTHON, "-c", "import test.test_os"], capture_output=True).returncode == 0
    if not have_python or not shutil.which("go"):
        print("skipped: the test suites of CPython and Go are not installed (./dev deps compat)")
        return 77
    known, used, new, counts = known_differences(), set(), [], {"ok": 0, "bare": 0}
    seconds = MOST_SECONDS[size]
    with tempfile.TemporaryDirectory(prefix="coop-compat-", dir="/var/tmp") as top:
        bare, inside = Place(None, top), Place(coop, top)

        def both(action):
            # One after the other: tests of one kind may use the same ports or names.
            results = []
            for place in (bare, inside):
                try:
                    results.append(action(place))
                except subprocess.TimeoutExpired:
                    results.append(({}, f"did not end within {seconds} s, {place.name}"))
            return results

        jobs = [(lambda place, m=module: run_cpython(place, m, seconds)) for module in modules]
        source = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True).stdout.strip()
        source = os.path.realpath(os.path.join(source, "src"))
        for package in packages:
            program = build_go(package, top)
            if program:
                jobs.append(lambda place, p=package, f=program: run_go(place, p, f, source, seconds))
        with ThreadPoolExecutor(2) as pool:
            for (before, _), (after, output) in pool.map(both, jobs):
                new += compare(before, after, output, known, used)
                counts["bare"] += sum(outcome == "ok" for outcome in before.values())
                counts["ok"] += sum(outcome == "ok" for outcome in after.values())
        subprocess.run(["chmod", "-R", "u+rwX", top])
    for pattern, _ in known:
        if pattern not in used and size == "long":
            print(f"no longer different, or not run: {pattern}")
    print(f"{counts['bare']} tests pass bare, {counts['ok']} inside; {len(new)} unknown differences")
    return 1 if new or counts["bare"] < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
