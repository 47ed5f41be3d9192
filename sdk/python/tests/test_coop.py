"""The package against the real library: COOP_LIBRARY names it, as it does for every user of the package."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PACKAGE))

import coop  # noqa: E402

TOOLS = {
    "bash",
    "exec",
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "send_file",
    "fetch_url",
}


class WorkspaceTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="coop-python-")
        self.addCleanup(place.cleanup)
        self.workspace = Path(place.name).resolve()

    def exec(self, command, **options):
        return coop.exec(command, workspace=self.workspace, **options)

    def python(self, program, **variables):
        """Another Python with this package, in the workspace."""
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), **variables}
        return subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class ExecTest(WorkspaceTest):
    def test_a_text_goes_to_the_shell(self):
        done = self.exec("echo out; echo err >&2; exit 3")
        self.assertEqual((done.exit_code, done.outcome), (3, "exited"))
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))
        self.assertEqual(done.raw["stdout"]["total_bytes"], 4)
        self.assertEqual(done.denials, [])

    def test_a_list_is_a_program_and_its_arguments(self):
        done = self.exec(["printf", "%s|", "two words", "$HOME", "ä€😀", ""])
        self.assertEqual((done.exit_code, done.stdout), (0, "two words|$HOME|ä€😀||"))

    def test_a_program_that_is_missing_is_an_outcome(self):
        done = self.exec(["there-is-no-such-program"])
        self.assertEqual((done.exit_code, done.outcome), (127, "not_found"))

    def test_a_signal_is_an_outcome(self):
        done = self.exec("kill -9 $$")
        self.assertEqual((done.exit_code, done.outcome), (137, "signalled"))

    def test_the_timeout_kills(self):
        begin = time.monotonic()
        done = self.exec("echo before; sleep 60", timeout=1)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual((done.exit_code, done.outcome, done.stdout), (124, "timed_out", "before\n"))

    def test_environment_and_directory(self):
        (self.workspace / "sub").mkdir()
        done = self.exec("echo $GREETING; pwd", environment={"GREETING": "hé"}, directory="/work/sub")
        self.assertEqual((done.stdout, done.stderr), ("hé\n/work/sub\n", ""))

    def test_only_the_workspace_can_be_written(self):
        self.assertEqual(self.exec(["touch", "/work/mine"]).exit_code, 0)
        self.assertTrue((self.workspace / "mine").exists())
        self.assertNotEqual(self.exec(["touch", "/usr/mine"]).exit_code, 0)
        self.assertFalse(Path("/usr/mine").exists())

    def test_without_a_workspace_it_is_the_current_directory(self):
        program = "import coop; print(coop.exec('touch here').exit_code)"
        process = self.python(program)
        out, err = process.communicate(timeout=60)
        self.assertEqual((out, err), ("0\n", ""))
        self.assertTrue((self.workspace / "here").exists())

    def test_what_is_not_utf_8_is_replaced(self):
        done = self.exec("printf 'a\\377b'")
        self.assertEqual(done.stdout, "a\N{REPLACEMENT CHARACTER}b")
        self.assertTrue(done.raw["stdout"]["lossy"])

    def test_the_policy_is_obeyed(self):
        done = self.exec("echo $CI", policy={"env": {"set": {"CI": "yes"}}})
        self.assertEqual(done.stdout, "yes\n")

    def test_a_policy_with_an_unknown_key_is_an_error_that_names_it(self):
        with self.assertRaises(coop.CoopError) as raised:
            self.exec("true", policy={"no_such_key": 1})
        self.assertEqual(raised.exception.kind, "invalid")
        self.assertIn("no_such_key", raised.exception.message)

    def test_a_workspace_that_is_missing_is_an_error_that_names_it(self):
        missing = str(self.workspace / "missing")
        with self.assertRaises(coop.CoopError) as raised:
            coop.exec("true", workspace=missing)
        self.assertIn(missing, str(raised.exception))

    def test_nul_is_refused_wherever_it_stands(self):
        for request in (
            {"command": "echo a\0b"},
            {"command": ["echo", "a\0b"]},
            {"command": "true", "environment": {"A": "a\0b"}},
            {"command": "true", "environment": {"A\0": "a"}},
            {"command": "true", "directory": "/work\0"},
            {"command": "true", "policy": {"readable_paths": ["/usr\0"]}},
        ):
            with self.subTest(request=request), self.assertRaisesRegex(ValueError, "NUL"):
                self.exec(**request)

    def test_what_is_no_unicode_is_refused(self):
        with self.assertRaises(ValueError):
            self.exec("echo \udcff")

    def test_sixteen_threads_at_once(self):
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda number: self.exec(f"echo {number}").stdout, range(32)))
        self.assertEqual(answers, [f"{number}\n" for number in range(32)])

    def test_no_descriptor_is_left(self):
        self.exec("true")
        before = sorted(os.listdir("/proc/self/fd"))
        for _ in range(3):
            self.exec("true")
            with self.assertRaises(coop.CoopError):
                self.exec("true", policy={"no_such_key": 1})
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)


class ToolsTest(WorkspaceTest):
    def setUp(self):
        super().setUp()
        self.tools = coop.Tools(self.workspace)
        self.addCleanup(self.tools.close)

    def test_the_agent_itself_has_all_tools(self):
        tools = self.tools.list()
        self.assertEqual({tool["name"] for tool in tools}, TOOLS)
        self.assertEqual(len(tools), 9)
        for tool in tools:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertTrue(tool["description"])

    def test_files_are_written_run_edited_and_read(self):
        wrote = self.tools.call("write_file", path="a/b.sh", content="echo hello\n")
        self.assertFalse(wrote.failed, wrote.text)
        self.assertEqual((self.workspace / "a/b.sh").read_text(), "echo hello\n")
        ran = self.tools.call("bash", command="sh a/b.sh | tee out.txt")
        self.assertEqual((ran.failed, ran.structured["stdout"]["text"]), (False, "hello\n"))
        edited = self.tools.call("edit_file", path="out.txt", old="hello", new="bye")
        self.assertFalse(edited.failed, edited.text)
        self.assertEqual(self.tools.call("read_file", path="out.txt").text, "bye\n")
        self.assertIn("a/", self.tools.call("list_files").text)
        self.assertEqual(self.tools.call("search_files", pattern="bye").structured["matches"], 1)

    def test_content_may_have_nul(self):
        self.assertFalse(self.tools.call("write_file", path="nul", content="a\0b").failed)
        self.assertEqual((self.workspace / "nul").read_bytes(), b"a\0b")
        with self.assertRaisesRegex(ValueError, "NUL"):
            self.tools.call("bash\0", command="true")

    def test_a_command_that_fails_is_an_answer(self):
        answer = self.tools.call("bash", command="exit 4")
        self.assertEqual((answer.failed, answer.structured["exit_code"]), (True, 4))

    def test_a_path_outside_of_the_view_is_refused(self):
        self.assertFalse(self.tools.call("write_file", path="control", content="x").failed)
        self.assertFalse(self.tools.call("read_file", path="control").failed)
        answer = self.tools.call("read_file", path="/etc/shadow")
        self.assertEqual((answer.failed, answer.structured["outcome"]), (True, "refused"))
        self.assertIn("/etc/shadow", answer.text)

    def test_an_argument_of_the_wrong_type_is_refused(self):
        answer = self.tools.call("bash", command=5)
        self.assertTrue(answer.failed)
        self.assertIn("command", answer.text)

    def test_sixteen_threads_share_the_tools(self):
        def ask(number):
            return self.tools.call("bash", command=f"echo {number}").text

        with ThreadPoolExecutor(16) as pool:
            self.assertEqual(list(pool.map(ask, range(32))), [f"{number}\n" for number in range(32)])

    def test_closed_tools_are_refused(self):
        with self.tools as same:
            self.assertIs(same, self.tools)
        self.tools.close()  # once more is nothing
        for use in (self.tools.list, lambda: self.tools.call("bash", command="true")):
            with self.assertRaisesRegex(coop.CoopError, "closed"):
                use()

    def test_close_waits_for_calls_of_other_threads(self):
        answers = []
        (self.workspace / "begin").unlink(missing_ok=True)
        thread = threading.Thread(
            target=lambda: answers.append(self.tools.call("bash", command="touch begin; sleep 1; echo end"))
        )
        thread.start()
        limit = time.monotonic() + 30
        while not (self.workspace / "begin").exists() and time.monotonic() < limit:
            time.sleep(0.02)
        self.tools.close()
        thread.join()
        self.assertEqual([answer.text for answer in answers], ["end\n"])

    def test_tools_do_not_cross_a_fork(self):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                self.tools.list()
            except coop.CoopError as error:
                status = 0 if "fork" in error.message else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
        self.assertFalse(self.tools.call("bash", command="true").failed)

    def test_options_that_are_wrong_are_errors(self):
        with self.assertRaises(coop.CoopError):
            coop.Tools(self.workspace, on_leak="perhaps")
        with self.assertRaises(coop.CoopError) as raised:
            coop.Tools(self.workspace, policy={"no_such_key": 1})
        self.assertIn("no_such_key", raised.exception.message)
        with self.assertRaisesRegex(ValueError, "NUL"):
            coop.Tools(f"{self.workspace}\0")


class InterruptTest(WorkspaceTest):
    def interrupted(self, program):
        """Sends SIGINT when the command inside has begun; what the program printed."""
        process = self.python(program)
        limit = time.monotonic() + 30
        while not (self.workspace / "begin").exists():
            if process.poll() is not None or time.monotonic() > limit:
                process.kill()
                self.fail(f"the command did not begin: {process.communicate()}")
            time.sleep(0.02)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("Ctrl-C did nothing")
        self.assertLess(time.monotonic() - begin, 10)
        return process.returncode, out, err

    def assert_command_is_dead(self):
        size = (self.workspace / "begin").stat().st_size
        time.sleep(0.5)
        self.assertEqual((self.workspace / "begin").stat().st_size, size)

    def test_control_c_ends_exec(self):
        program = """
import coop, time
try:
    coop.exec(["sh", "-c", "while :; do echo >> begin; sleep 0.05; done"])
except KeyboardInterrupt:
    print("interrupted", flush=True)
    time.sleep(1)  # the command must not need the end of this program
    raise
"""
        status, out, err = self.interrupted(program)
        self.assertEqual((status, out), (-signal.SIGINT, "interrupted\n"))
        self.assertIn("KeyboardInterrupt", err)
        self.assert_command_is_dead()

    def test_control_c_ends_sleep(self):
        program = "import coop; open('begin', 'w').close(); coop.exec(['sleep', '60'])"
        self.assertEqual(self.interrupted(program)[0], -signal.SIGINT)

    def test_control_c_ends_a_tool_and_the_tools_go_on(self):
        program = """
import coop, os, time
with coop.Tools() as tools:
    try:
        tools.call("bash", command="while :; do echo >> begin; sleep 0.05; done")
    except KeyboardInterrupt:
        size = os.path.getsize("begin")
        time.sleep(0.5)
        print("interrupted, and dead:", os.path.getsize("begin") == size)
    print(tools.call("bash", command="echo again").text, end="")
"""
        self.assertEqual(self.interrupted(program), (0, "interrupted, and dead: True\nagain\n", ""))


class LibraryTest(WorkspaceTest):
    def failure(self, library):
        """What a Python says that is told to use this file."""
        program = """
import coop
try:
    coop.version()
except coop.CoopError as error:
    print(error.kind, error)
"""
        process = self.python(program, COOP_LIBRARY=str(library))
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, ""))
        return out

    def test_version_and_probe(self):
        self.assertRegex(coop.version(), r"^\d+\.\d+\.\d+")
        self.assertIsInstance(coop.probe(), dict)

    def test_a_missing_library_is_an_error_that_says_where_and_what_to_do(self):
        missing = self.workspace / "libcoop.so"
        said = self.failure(missing)
        self.assertTrue(said.startswith("unsupported "), said)
        self.assertIn(str(missing), said)
        self.assertIn("COOP_LIBRARY", said)

    def test_without_the_variable_all_places_are_named(self):
        said = self.failure("")
        if said:  # empty: the library is installed on this machine
            self.assertIn(str(PACKAGE / "coop" / "libcoop.so.1"), said)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_another_library_is_refused(self):
        for text, says in (
            ("int coop_abi_version(void) { return 2; }", "version 2"),
            ("int something_else(void) { return 2; }", "coop_abi_version"),
        ):
            with self.subTest(text):
                source, library = self.workspace / "other.c", self.workspace / "other.so"
                source.write_text(text)
                subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
                said = self.failure(library)
                self.assertIn(says, said)
                self.assertIn(str(library), said)


if __name__ == "__main__":
    unittest.main()
