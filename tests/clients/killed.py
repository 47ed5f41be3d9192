"""Servers that are killed with SIGKILL in the middle of a call leave nothing behind."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from run_tests import main

COOP = os.environ["COOP_PROGRAM"]


def processes_with(marker):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if marker.encode() in file.read() and int(name) != os.getpid():
                    found.append(int(name))
        except OSError:
            pass
    return found


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def groups_of(processes):
    """The names of coop's control groups that they are in: other sandboxes may run on this machine."""
    names = set()
    for process in processes:
        with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
            names |= {part for part in file.read().replace("\n", "/").split("/") if part.startswith("coop-")}
    return names


def groups(names):
    return sorted(path for path, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(path) in names)


def mounts(directory):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return [line for line in file if directory in line]


def files_below(directory):
    return sorted(os.path.join(path, name) for path, _, names in os.walk(directory) for name in names)


class Killed(unittest.TestCase):
    def kill_in_the_middle(self, more, speak):
        with tempfile.TemporaryDirectory() as around:
            workspace, state, temporary = (os.path.join(around, name) for name in ("work", "state", "tmp"))
            for directory in (workspace, state, temporary):
                os.mkdir(directory)
            marker = f"63.{os.getpid()}{time.monotonic_ns() % 1000000}"
            environment = dict(os.environ, XDG_STATE_HOME=state, TMPDIR=temporary,
                               COOP_MCP_TOKEN="0123456789abcdef")
            with subprocess.Popen([COOP, "mcp", "--workspace", workspace, "--memory", "256m", *more], env=environment,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
                # A daemon as well: it must not survive either.
                speak(server, f"setsid sleep {marker}1 & sleep {marker}2")
                self.assertTrue(until(lambda: len(processes_with(marker)) >= 2), "the command runs")
                names = groups_of(processes_with(marker))
                self.assertTrue(groups(names) or os.geteuid() != 0, "root has a control group")
                os.kill(server.pid, signal.SIGKILL)
            self.assertTrue(until(lambda: not processes_with(marker)), processes_with(marker))
            self.assertTrue(until(lambda: not processes_with(workspace)), processes_with(workspace))
            self.assertTrue(until(lambda: not groups(names)), groups(names))
            self.assertEqual(mounts(around), [])
            self.assertEqual(files_below(workspace), [])
            self.assertEqual(files_below(temporary), [])
            self.assertEqual([name for name in files_below(state) if "quarantine" not in name], [])

    @staticmethod
    def call(command):
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": command},
                           "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                     "io.modelcontextprotocol/clientCapabilities": {}}}}

    def test_on_standard_input_and_output(self):
        def speak(server, command):
            server.stdin.write((json.dumps(self.call(command)) + "\n").encode())
            server.stdin.flush()
        self.kill_in_the_middle([], speak)

    def test_over_http(self):
        def speak(server, command):
            url = server.stderr.readline().decode().split()[-1]
            self.client = subprocess.Popen(  # ends when the server does
                ["curl", "-s", url, "-H", "Authorization: Bearer 0123456789abcdef", "-H", "Content-Type: application/json",
                 "-H", "MCP-Protocol-Version: 2026-07-28", "-H", "Mcp-Method: tools/call", "-H", "Mcp-Name: bash",
                 "-d", json.dumps(self.call(command))], stdout=subprocess.DEVNULL)
        self.kill_in_the_middle(["--http", "127.0.0.1:0"], speak)
        self.client.wait(10)


if __name__ == "__main__":
    main()
