"""`coop tool` and `coop mcp` as a person calls them: who runs where, and whose token counts."""

import json
import os
import resource
import subprocess
import tempfile
import unittest

from run_tests import main, only_if

COOP = os.environ["COOP_PROGRAM"]
PEOPLE = """
[agent]
workspace = "%s"

[[users]]
name = "bob"
trust = "inner"
match = ["signal:bob"]
"""


class Command(unittest.TestCase):
    def setUp(self):
        self.around = tempfile.TemporaryDirectory()
        self.addCleanup(self.around.cleanup)
        self.workspace = os.path.join(self.around.name, "project")
        os.mkdir(self.workspace)

    def run_as_bob(self, more):
        config = os.path.join(self.around.name, "coop.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(PEOPLE % self.workspace + more)
        done = subprocess.run([COOP, "tool", "bash", '{"command": "hostname"}', "--json", "--config", config, "--as", "bob"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_what_says_nothing_about_the_sandbox_has_it(self):
        answer, _ = self.run_as_bob("")
        self.assertTrue(answer["text"].startswith("coop-"), answer)

    def test_without_a_sandbox_only_where_that_is_written(self):
        answer, said = self.run_as_bob("[sandbox]\nenabled = false\n")
        self.assertFalse(answer["text"].startswith("coop-"), answer)
        self.assertEqual(answer["structured"]["isolation"], "disabled")
        self.assertIn("disabled", said)

    @only_if(os.getuid() != 0)  # root's files in /proc look the same either way
    def test_no_process_of_the_user_may_read_the_servers_memory(self):
        with subprocess.Popen([COOP, "mcp", "--workspace", self.workspace], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as server:
            server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            server.stdin.flush()
            self.assertIn(b'"id":1', server.stdout.readline())
            # PR_SET_DUMPABLE 0: the files in /proc belong to root.
            self.assertEqual(os.stat(f"/proc/{server.pid}/mem").st_uid, 0)
            with self.assertRaises(PermissionError):
                open(f"/proc/{server.pid}/environ", "rb")
            server.stdin.close()

    def test_every_read_has_a_bound(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        for words, text in ((["config", "check", "-"], None), (["config", "check", "/dev/zero"], None),
                            (["policy", "check", "/dev/zero"], None), (["policy", "import", "-", "--dry-run"], None),
                            (["config", "check", "-"], "")):
            with open("/dev/zero" if text is None else "/dev/null", "rb") as stream:
                done = subprocess.run([COOP, *words], stdin=stream, capture_output=True, text=True, timeout=60, check=False,
                                      preexec_fn=limited, cwd=self.workspace)
            if text is None:
                self.assertEqual(done.returncode, 125, (words, done.stdout, done.stderr))
                self.assertRegex(done.stderr, "has more than|not a plain file")
            else:
                self.assertIn(done.returncode, (0, 1), done.stderr)  # control: what ends is read

    def test_logs_in_json_are_json(self):
        script = "exec 2>/dev/null; mkdir -p .git/hooks; touch .git/config; sleep 9 & exit 3"
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": script}}}
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        flags = ["-v", "--log-format", "json", "--workspace", self.workspace]
        tool = subprocess.run([COOP, "tool", "bash", json.dumps({"command": script}), *flags], capture_output=True, text=True,
                              timeout=60, check=False)
        with subprocess.Popen([COOP, "mcp", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as server:
            for message in begin, call:
                server.stdin.write(json.dumps(message) + "\n")
                server.stdin.flush()
                while json.loads(server.stdout.readline()).get("id") != message["id"]:
                    pass
            _, log = server.communicate(timeout=60)
        for text in tool.stderr, log:
            records = [json.loads(line) for line in text.splitlines()]
            answers = [record["fields"] for record in records if record["message"] == "the tool has answered"]
            self.assertEqual([answer["failed"] for answer in answers], [True], text)

    def test_a_log_does_not_keep_the_token(self):
        command = [COOP, "mcp", "--http", "127.0.0.1:0", "--log-format", "json", "--workspace", self.workspace]
        environment = {name: value for name, value in os.environ.items() if name != "COOP_MCP_TOKEN"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("--token-file", done.stderr)
        environment["COOP_MCP_TOKEN"] = "never-in-a-record-0123456789"
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
            record = json.loads(server.stderr.readline())
            server.terminate()
            self.assertNotIn("never-in-a-record", json.dumps(record) + server.stderr.read())
        self.assertTrue(record["fields"]["url"].startswith("http://127.0.0.1:"), record)

    def serve(self, token):
        return subprocess.run([COOP, "mcp", "-w", self.workspace, "--http", "127.0.0.1:0", "--token-file", token],
                              capture_output=True, text=True, timeout=30, check=False)

    def test_token_files_that_others_could_know_are_refused(self):
        place = self.around.name
        readable, short, fifo, link = (os.path.join(place, name) for name in ("readable", "short", "fifo", "link"))
        for path, text, mode in ((readable, "0123456789abcdef0123", 0o644), (short, "short", 0o600)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, mode)
        os.mkfifo(fifo, 0o600)
        os.symlink(short, link)
        for path, reason in ((readable, "can be read by others"), (short, "no token"), (fifo, "not a plain file"),
                             (link, "ELOOP"), (os.path.join(place, "none", "x"), "ENOENT")):
            done = self.serve(path)
            self.assertEqual(done.returncode, 125, path)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    main()
