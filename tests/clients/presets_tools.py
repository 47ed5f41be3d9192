"""Toolchains in the view that a preset gives, with nothing said about them: each builds something small in the workspace, without a
network. What they leave is in the workspace and in the agent's own home, not in the user's."""

import base64
import hashlib
import os
import shutil
import subprocess
import unittest
import zipfile

import preset_home
from preset_home import ADDRESS, HOME, NAME, NPM_GLOBAL, changed, clone_into, coop, files_below, home_of, write
from run_tests import main, only_if

PATH = preset_home.environment(NPM_GLOBAL)["PATH"]
STATE = os.path.join(HOME, ".local/state/coop")


def installed(*names):
    """Decorator: elsewhere there is no such test."""
    return only_if(all(shutil.which(name, path=PATH) for name in names))


def make_wheel(place):
    """A wheel with one module, as pip wants it."""
    files = {"plum.py": b"TASTE = 'sweet'\n", "plum-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: plum\nVersion: 1.0\n",
             "plum-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b'=').decode()},{len(text)}\n"
                     for name, text in files.items()) + "plum-1.0.dist-info/RECORD,,\n"
    with zipfile.ZipFile(os.path.join(place, "plum-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in [*files.items(), ("plum-1.0.dist-info/RECORD", record.encode())]:
            wheel.writestr(name, text)


class Tools(unittest.TestCase):
    def setUp(self):
        preset_home.make_secrets()
        self.workspace = clone_into(os.path.join(HOME, "project"))
        self.addCleanup(shutil.rmtree, self.workspace)
        self.before = self.snapshot()

    def snapshot(self):
        return files_below(HOME, {STATE, self.workspace})

    def write(self, name, text):
        write(os.path.join(self.workspace, name), text)

    def inside(self, script):
        ran = coop("run", "--preset", "claude", "--", "bash", "-ec", script, cwd=self.workspace, prefix=NPM_GLOBAL)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(changed(self.before, self.snapshot()), [])
        return ran.stdout

    @installed("node", "npm")
    def test_node(self):
        self.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"taste": "node -p 6*7"}}')
        self.write("plum/package.json", '{"name": "plum", "version": "1.0.0", "main": "index.js"}')
        self.write("plum/index.js", "module.exports = 'sweet';\n")
        said = self.inside("npm run --silent taste; npm pack --silent ./plum; npm install --silent --offline ./plum-1.0.0.tgz; "
                           "node -p 'require(\"plum\")'")
        self.assertEqual(said.split(), ["42", "plum-1.0.0.tgz", "sweet"])

    @installed("pnpm")
    def test_pnpm(self):
        self.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"taste": "node -p 6*7"}}')
        self.assertIn("42", self.inside("pnpm --silent run taste"))

    @installed("yarn")
    def test_yarn(self):
        self.write("package.json", '{"name": "p", "version": "1.0.0", "scripts": {"taste": "node -p 6*7"}}')
        self.assertIn("42", self.inside("yarn --silent run taste"))

    @only_if(subprocess.run(["python3", "-m", "ensurepip", "--version"], env={"PATH": PATH}, capture_output=True,
                            check=False).returncode == 0)
    def test_python(self):
        make_wheel(self.workspace)
        said = self.inside("python3 -m venv .venv; .venv/bin/pip install --quiet --no-index ./plum-1.0-py3-none-any.whl; "
                           ".venv/bin/python -c 'import plum; print(plum.TASTE)'")
        self.assertIn("sweet", said)

    @installed("python3", "pip3")
    def test_pip_into_the_home(self):
        make_wheel(self.workspace)
        said = self.inside("pip3 install --quiet --user --no-index --break-system-packages ./plum-1.0-py3-none-any.whl; "
                           "python3 -c 'import plum; print(plum.TASTE)'")
        self.assertIn("sweet", said)

    @installed("uv")
    def test_uv(self):
        make_wheel(self.workspace)
        self.assertIn("sweet", self.inside("uv venv --quiet --offline .venv; uv pip install --quiet --offline ./plum-1.0-py3-none-any.whl; "
                                           ".venv/bin/python -c 'import plum; print(plum.TASTE)'"))

    @installed("go")
    def test_go(self):
        self.write("go.mod", "module p\n")
        self.write("main.go", 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("sweet") }\n')
        self.assertEqual(self.inside("go build -o p .; ./p; go vet ."), "sweet\n")

    @installed("cargo", "cc")
    def test_cargo(self):
        self.write("Cargo.toml", '[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\n')
        self.write("src/main.rs", 'fn main() { println!("sweet"); }\n')
        self.assertEqual(self.inside("cargo --quiet --offline run"), "sweet\n")

    @installed("javac")
    def test_java(self):
        self.write("Main.java", 'class Main { public static void main(String[] a) { System.out.println("sweet"); } }\n')
        self.assertEqual(self.inside("javac Main.java; java Main"), "sweet\n")

    @installed("mvn")
    def test_maven(self):
        self.assertIn("Maven", self.inside("mvn -B -o -v; ls -d ~/.m2 || true"))

    @installed("gradle")
    def test_gradle(self):
        self.assertIn("Gradle", self.inside("gradle --offline --version"))

    @installed("make", "cmake", "cc")
    def test_make_and_cmake(self):
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(p main.c)\n")
        self.write("main.c", '#include <stdio.h>\nint main(void) { puts("sweet"); }\n')
        self.write("Makefile", "all:\n\tcmake -S . -B out >/dev/null\n\tcmake --build out >/dev/null\n")
        self.assertTrue(self.inside("make --silent; ./out/p").endswith("sweet\n"))

    @installed("rg")
    def test_ripgrep(self):
        self.assertIn("README", self.inside("rg --files-with-matches 'a project'"))

    def test_git(self):
        said = self.inside("echo 1 >one; git add one; git commit --quiet -m first; git switch --quiet -c other; "
                           "git log -1 --format='%an <%ae>'; git stash list; git worktree list | wc -l; git gc --quiet; git fsck")
        self.assertIn(f"{NAME} <{ADDRESS}>\n", said)

    def test_what_a_tool_keeps_is_in_the_agents_own_home(self):
        self.inside("mkdir -p ~/.cache/tool ~/.m2; echo kept >~/.cache/tool/file; touch ~/.m2/settings.xml")
        _, home = home_of("claude", self.workspace)
        self.assertEqual(preset_home.read(os.path.join(home, ".cache/tool/file")), "kept\n")
        self.assertIn("kept", self.inside("cat ~/.cache/tool/file"))


if __name__ == "__main__":
    main()
