#!/usr/bin/python3
"""Runs git's own tests, t0000 to t7999, in a sandbox, and bare where one fails or is skipped there, and compares.

usage: git_suite.py COOP [SCRIPT...]        for example: git_suite.py build/dev/bin/coop t3200 t7400

The sources come from apt, in the version of the installed git, with a configuration of apt's own in build/git-suite, where
they are built too. A test that passes bare and fails, is skipped or is missing inside is a difference; known_git.txt has those
that are known, each with its reason, and any other fails. All of it takes an hour or more: `./dev soak` runs it, CI does not.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from run import HERE, Place, known_differences, unknown

BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "git-suite")
MAKE = ["make", "CFLAGS=-O1 -pipe", "NO_GETTEXT=1", "NO_TCLTK=1", "NO_EXPAT=1", "PYTHON_PATH=/usr/bin/python3"]
# As many minutes as the longest script takes on a slow machine, several times over.
MOST_SECONDS = 3600


def output_of(words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def source_lines():
    """Where the packages of this machine's own distribution come from, as lines for sources."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    found = set()
    for name in ("Debian", "Ubuntu"):
        found |= set(output_of(["apt-get", "indextargets", "--format", form, "Created-By: Packages",
                                f"Origin: {name}"]).splitlines())
    keys = [path for path in glob.glob("/usr/share/keyrings/*-archive-keyring.gpg")
            if os.path.basename(path) in ("debian-archive-keyring.gpg", "ubuntu-archive-keyring.gpg")]
    signed = f"[signed-by={','.join(keys)}] " if keys else ""
    return [f"deb-src {signed}{line}\n" for line in sorted(found)]


def get_sources(version):
    """With lists and settings beside the sources: those of the machine stay as they are."""
    for directory in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(BUILD, "apt", directory), exist_ok=True)
    with open(os.path.join(BUILD, "apt", "sources.list"), "w") as file:
        file.writelines(source_lines())
    settings = {"Dir::Etc::SourceList": "apt/sources.list", "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": "apt/lists", "Dir::Cache": "apt/cache"}
    apt = ["apt-get", "-q", "-o", "APT::Sandbox::User=root"]
    for name, value in settings.items():
        apt += ["-o", f"{name}={os.path.join(BUILD, value)}"]
    subprocess.run(apt + ["update"], check=True)
    subprocess.run(apt + ["source", f"git={version}"], cwd=BUILD, check=True)


def built_tree():
    """The directory of git's built sources."""
    version = output_of(["dpkg-query", "-W", "-f", "${source:Version}", "git"])
    tree = os.path.join(BUILD, "git-" + re.sub(r"^\d+:|-[^-]*$", "", version))
    if not os.path.isdir(tree):
        os.makedirs(BUILD, exist_ok=True)
        get_sources(version)
    if not os.path.exists(os.path.join(tree, "t", "helper", "test-tool")):
        subprocess.run(MAKE + [f"-j{os.cpu_count()}", "all"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return tree


def outcomes(script, output):
    """Outcome by name of a test ("t3200.5"): "ok", "failed" or "skipped". `output` is in the form of TAP."""
    found = {}
    for bad, number, rest in re.findall(r"^(not )?ok (\d+)(.*)$", output, re.MULTILINE):
        found[f"{script}.{number}"] = "failed" if bad else "skipped" if rest.startswith(" # skip") else "ok"
    return found


def run_script(coop, top, tree, path):
    """Outcomes of one script, and its log. It has a workspace of its own: what another run is making there would be judged at
    the end of this one."""
    name = os.path.basename(path)[:-len(".sh")]
    script = name.split("-")[0]
    place = Place(coop, os.path.join(top, script))
    # The trash directory is in the workspace, and so is what --verbose-log writes.
    command = (f"cd '{tree}/t' && TEST_OUTPUT_DIRECTORY={place.inside} "
               f"./{name}.sh --root={place.inside} --verbose-log --no-chain-lint")
    try:
        output = place.run(["sh", "-c", command], MOST_SECONDS, more=["--ro", tree])
        log = os.path.join(place.work, "test-results", name + ".out")
        details = open(log, errors="replace").read() if os.path.exists(log) else output
    except subprocess.TimeoutExpired:
        output, details = "", f"did not end within {MOST_SECONDS} s"
    shutil.rmtree(place.work, ignore_errors=True)
    return outcomes(script, output), details


def passed_whole(found, details):
    """Whether nothing could differ from a bare run: each test of the plan ("1..30") passed."""
    plan = re.search(r"^1\.\.(\d+)", details, re.MULTILINE)
    return bool(plan) and len(found) == int(plan[1]) and all(outcome == "ok" for outcome in found.values())


def explain(name, outcome, details):
    print(f"DIFFERENT {name}: passes bare, inside: {outcome}")
    number = name.split(".")[1]
    at = re.search(rf"^expecting success of \d+\.{number} .*?^(not )?ok {number}\b.*?$", details, re.MULTILINE | re.DOTALL)
    print("   | " + (at[0] if at else details[-1000:])[-4000:].replace("\n", "\n   | "), flush=True)


def main():
    coop = os.path.abspath(sys.argv[1])
    if not shutil.which("apt-get") or not shutil.which("make"):
        print("skipped: git's sources come from apt and are built with make (./dev deps soak)")
        return 77
    tree = built_tree()
    wanted = sys.argv[2:] or ["t[0-7]"]
    found = (path for words in wanted for path in sorted(glob.glob(os.path.join(tree, "t", words + "*.sh"))))
    paths = list(dict.fromkeys(path for path in found if re.match(r"t\d{4}-", os.path.basename(path))))
    known, used, new, passed, compared = known_differences("known_git.txt"), set(), [], 0, 0
    with tempfile.TemporaryDirectory(prefix="coop-git-", dir="/var/tmp") as top:
        def inside_and_bare(path):
            # One after the other: a script's servers use one port.
            after, details = run_script(coop, top, tree, path)
            if passed_whole(after, details):
                return after, None, details
            before, _ = run_script(None, top, tree, path)
            return after, before, details

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, (after, before, details) in zip(paths, pool.map(inside_and_bare, paths)):
                differences = unknown(before or {}, after, known, used)
                for name in differences:
                    explain(name, after.get(name, "missing"), details)
                new += differences
                ok = sum(outcome == "ok" for outcome in after.values())
                passed += ok
                compared += before is not None
                print(f"{os.path.basename(path)}: {ok} pass inside" +
                      (f", {sum(outcome == 'ok' for outcome in before.values())} bare" if before is not None else ""),
                      flush=True)
        subprocess.run(["chmod", "-R", "u+rwX", top])
    if len(sys.argv) == 2:
        for pattern in (pattern for pattern, _ in known if pattern not in used):
            print(f"no longer different, or not run: {pattern}")
    print(f"{passed} tests pass inside; {compared} of {len(paths)} scripts were run bare too; {len(new)} unknown differences")
    return 1 if new or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
