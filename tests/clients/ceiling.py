"""The organisation's /etc/coop/policy.toml bounds every way into a sandbox. Each test asks twice: without the file, where
the grant works (the control), and with it, in a mount namespace of its own."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest

from run_tests import main

COOP = os.environ["COOP_PROGRAM"]
POLICY = '[sandbox]\nwritable_paths = ["/srv"]\n'
MOUNT = 'mount -t overlay overlay -o lowerdir="$1":/etc /etc && shift && exec "$@"'


class C:
    """libcoop.so as any program calls it."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["COOP_LIBRARY"])
        self.library.coop_free.argtypes = [ctypes.c_void_p]
        self.library.coop_tools_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
        self.library.coop_tools_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                                                 ctypes.POINTER(ctypes.c_void_p)]

    def text(self, pointer):
        text = ctypes.string_at(pointer).decode()
        self.library.coop_free(pointer)
        return text

    def exec(self, request):
        answer = ctypes.c_void_p()
        self.library.coop_exec(json.dumps(request).encode(), -1, ctypes.byref(answer))
        return self.text(answer)

    def call(self, options, tool, arguments):
        answer, tools = ctypes.c_void_p(), ctypes.c_void_p()
        opened = self.library.coop_tools_open(json.dumps(options).encode(), ctypes.byref(tools), ctypes.byref(answer))
        said = self.text(answer)
        if opened != 0:
            return said
        self.library.coop_tools_call(tools, tool.encode(), json.dumps(arguments).encode(), -1, ctypes.byref(answer))
        return self.text(answer)


def mcp(arguments, workspace, command):
    """One call of bash on standard input and output."""
    messages = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": command}}}]
    with subprocess.Popen([COOP, "mcp", "-w", workspace, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        said = ""
        for line in server.stdout:
            said += line
            if '"id":2' in line.replace(" ", ""):
                break
        server.stdin.close()
        return said


def http(arguments, workspace, command):
    """The same over HTTP, in one exchange of the revision without sessions."""
    import urllib.request
    token = "0123456789abcdef0123456789abcdef"
    with subprocess.Popen([COOP, "mcp", "-w", workspace, "--http", "127.0.0.1:0", *arguments], stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, COOP_MCP_TOKEN=token)) as server:
        said = ""
        for line in server.stderr:
            said += line
            if "serving MCP at" not in line:
                continue
            url = line.split()[-1]
            headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json",
                       "Accept": "application/json, text/event-stream"}
            for message in ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
                            {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                             "params": {"name": "bash", "arguments": {"command": command}}}):
                request = urllib.request.Request(url, json.dumps(message).encode(), headers)
                with urllib.request.urlopen(request, timeout=60) as answer:
                    headers["Mcp-Session-Id"] = answer.headers.get("Mcp-Session-Id") or headers.get("Mcp-Session-Id", "")
                    said += answer.read().decode()
            server.terminate()
            break
        return said


def command_line(*words):
    done = subprocess.run([COOP, *words], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def enter(way, outside, workspace):
    """Tries to write outside of the workspace, by one way in; what was said."""
    write = "echo x > inside-%s; echo x > %s/%s" % (way, outside, way)
    flags = ["--rw", outside]
    policy = {"workspace": workspace, "writable_paths": [outside]}
    tools = {"workspace": workspace, "policy": {"writable_paths": [outside]}}
    if way == "run":
        return command_line("run", "-w", workspace, *flags, "--", "sh", "-c", write)
    if way == "plan":
        return command_line("plan", "-w", workspace, *flags)
    if way == "tool":
        return command_line("tool", "bash", json.dumps({"command": write}), "-w", workspace, *flags)
    if way == "owner":
        config = os.path.join(os.path.dirname(workspace), "coop.toml")
        return command_line("tool", "bash", json.dumps({"command": write}), "-w", workspace, "--config", config, "--as", "ann")
    if way == "mcp":
        return mcp(flags, workspace, write)
    if way == "http":
        return http(flags, workspace, write)
    if way == "coop_exec":
        return C().exec({"command": write, "policy": policy})
    if way == "coop_tools":
        return C().call(tools, "bash", {"command": write})
    import coop
    try:
        if way == "python_exec":
            return repr(coop.exec(write, workspace=workspace, policy={"writable_paths": [outside]}))
        with coop.Tools(workspace=workspace, policy={"writable_paths": [outside]}) as opened:
            return repr(opened.call("bash", command=write))
    except coop.CoopError as error:
        return str(error)


def enter_with_timeout(way, _, workspace):
    """A command that takes 2 s and may take 20, by one way in; what was said."""
    command = "echo began; sleep 2; touch " + way
    if way == "tool":
        return command_line("tool", "bash", json.dumps({"command": command, "timeout": 20}), "-w", workspace)
    if way == "coop_exec":
        return C().exec({"command": command, "timeout": 20, "policy": {"workspace": workspace}})
    if way == "coop_tools":
        return C().call({"workspace": workspace}, "bash", {"command": command, "timeout": 20})
    import coop
    return repr(coop.exec(command, workspace=workspace, timeout=20))


class Ceiling(unittest.TestCase):
    def setUp(self):
        around = tempfile.TemporaryDirectory()
        self.addCleanup(around.cleanup)
        self.workspace, self.outside, self.layer = (os.path.join(around.name, name) for name in ("project", "outside", "etc"))
        for path in (self.workspace, self.outside, os.path.join(self.layer, "coop")):
            os.makedirs(path, 0o755)
        self.write_policy(POLICY)

    def write_policy(self, text):
        with open(os.path.join(self.layer, "coop/policy.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o644)

    def check(self, way, writes=True, flag="--enter", bounded_writes=False, after_free=lambda: None):
        words = [sys.executable, os.path.abspath(__file__), flag, way, self.outside, self.workspace]
        made = os.path.join(self.workspace if flag == "--enter-with-timeout" else self.outside, way)
        free = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(os.path.exists(made), writes, free.stdout + free.stderr)
        self.assertNotIn("beyond the organisation's", free.stdout + free.stderr)
        if writes:
            os.unlink(made)
        after_free()
        bounded = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", self.layer, *words],
                                 capture_output=True, text=True, timeout=120, check=False)
        said = bounded.stdout + bounded.stderr
        self.assertEqual(os.path.exists(made), bounded_writes, said)
        return said

    def test_flags(self):
        for way in ("run", "tool", "mcp", "http"):
            with self.subTest(way):
                self.assertIn("beyond the organisation's", self.check(way))
        self.assertIn("beyond the organisation's", self.check("plan", writes=False))

    def test_programs(self):
        """What they ask for beyond it is left out."""
        for way in ("coop_exec", "coop_tools", "python_exec", "python_tools"):
            with self.subTest(way):
                inside = os.path.join(self.workspace, "inside-" + way)
                said = self.check(way, after_free=lambda: os.unlink(inside))
                self.assertTrue(os.path.exists(inside), said)  # control: the bounded one ran

    def test_the_owners_bypass(self):
        """An owner's tools run on the host only where the organisation's file allows that."""
        with open(os.path.join(os.path.dirname(self.workspace), "coop.toml"), "w", encoding="utf-8") as file:
            file.write('[[users]]\nname = "ann"\ntrust = "owner"\nmatch = ["terminal:default"]\n')
        os.chmod(file.name, 0o600)
        self.write_policy('[sandbox]\ntimeout = "1m"\n')
        self.check("owner")
        self.write_policy('[sandbox]\ntimeout = "1m"\nowner_bypass = true\n')
        self.check("owner", bounded_writes=True)  # control

    def test_output_limit(self):
        """One below that of the tools themselves holds for them, too."""
        self.write_policy('[sandbox]\noutput_limit = "1k"\n')
        words = [COOP, "tool", "bash", json.dumps({"command": "head -c 50000 /dev/zero | tr '\\0' x"}), "-w", self.workspace]
        done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", self.layer, *words],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(500 < len(done.stdout) < 1500, len(done.stdout))
        free = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertGreater(len(free.stdout), 49000)  # control

    def test_where_a_workspace_may_be(self):
        self.write_policy('[sandbox]\nworkspaces = ["/srv"]\n')
        for way in ("run", "tool"):
            self.assertIn("is not where", self.check(way))

    def test_timeouts(self):
        """What a call asks for does not matter. The tools work where the organisation decides about variables."""
        self.write_policy('[sandbox]\ntimeout = "500ms"\n[sandbox.env]\nset = { LANG = "C" }\n')
        for way in ("tool", "coop_exec", "coop_tools", "python_exec"):
            with self.subTest(way):
                said = self.check(way, flag="--enter-with-timeout")
                self.assertIn("began", said)
                self.assertTrue("timed_out" in said or "killed after the timeout of 500 ms" in said, said)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--enter"]:
        print(enter(*sys.argv[2:]))
    elif sys.argv[1:2] == ["--enter-with-timeout"]:
        print(enter_with_timeout(*sys.argv[2:]))
    else:
        main()
