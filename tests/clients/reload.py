"""`coop mcp --config`, on standard input and output and over HTTP, while its files change."""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from run_tests import main

COOP = os.environ["COOP_PROGRAM"]
CONFIG = """
[agent]
workspace = "%s"

[sandbox]
enabled = true
env = { set = { COLOUR = "%s" } }

[[users]]
name = "bob"
trust = "%s"
match = ["signal:bob"]
"""


def replace(path, text):
    """As an editor does it: another file takes the name."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", 0o600)
    os.rename(path + ".new", path)


class Stdio:
    """A client on the standard input and output of `coop mcp`."""

    def __init__(self, arguments, environment):
        self.server = subprocess.Popen([COOP, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=environment)
        self.messages = queue.Queue()
        self.last = 0
        self.log = []
        threading.Thread(target=self.read, daemon=True).start()
        self.reader = threading.Thread(target=lambda: self.log.extend(self.server.stderr), daemon=True)
        self.reader.start()
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})

    def read(self):
        for line in self.server.stdout:
            self.messages.put(json.loads(line))

    def ask(self, method, params=None):
        """The result, and the notifications that came before it."""
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}}
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()
        news = []
        while True:
            answer = self.messages.get(timeout=60)
            if answer.get("id") == self.last:
                return answer["result"], news
            news.append(answer)

    def tell(self, method, params):
        """A request whose answer is not waited for."""
        message = {"jsonrpc": "2.0", "id": "aside", "method": method, "params": params}
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=30)
        self.reader.join(timeout=30)
        for stream in (self.server.stdout, self.server.stderr):
            stream.close()


class Http:
    """A client of `coop mcp --http`."""

    def __init__(self, arguments, environment):
        environment = dict(environment, COOP_MCP_TOKEN="0123456789abcdef0123456789abcdef")
        self.server = subprocess.Popen([COOP, "mcp", "--http", "127.0.0.1:0", *arguments], stderr=subprocess.PIPE, text=True,
                                       env=environment)
        self.url = next(line for line in self.server.stderr if "serving MCP at" in line).split()[-1]
        self.log = []
        self.reader = threading.Thread(target=lambda: self.log.extend(self.server.stderr), daemon=True)
        self.reader.start()
        self.last = 0
        self.session = None
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})

    def ask(self, method, params=None):
        self.last += 1
        headers = {"Authorization": "Bearer 0123456789abcdef0123456789abcdef", "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        body = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=60) as answer:
            self.session = answer.headers.get("Mcp-Session-Id", self.session)
            text = answer.read().decode()
        if not text.startswith(("event:", ":")):
            return json.loads(text)["result"], []
        messages = [json.loads(line[len("data: "):]) for line in text.splitlines() if line.startswith("data: ")]
        return messages[-1]["result"], messages[:-1]

    tell = ask

    def close(self):
        self.server.terminate()
        self.server.wait(timeout=30)
        self.reader.join(timeout=30)
        self.server.stderr.close()


class Reload(unittest.TestCase):
    transport = Stdio
    flags = []

    def setUp(self):
        around = tempfile.TemporaryDirectory()
        self.addCleanup(self.remove, around)
        self.workspace = os.path.join(around.name, "project")
        self.config = os.path.join(around.name, "coop.toml")
        self.policy = os.path.join(around.name, "home/.config/coop/policy.toml")
        os.mkdir(self.workspace)
        os.makedirs(os.path.dirname(self.policy))
        self.write("red", "full")
        self.environment = environment = dict(os.environ, HOME=os.path.join(around.name, "home"), XDG_STATE_HOME=around.name, XDG_CONFIG_HOME="")
        self.client = self.transport(["--config", self.config, "--as", "bob", *self.flags], environment)
        self.addCleanup(self.client.close)

    @staticmethod
    def remove(around):
        """The janitor of a server that was terminated may still be at work in it."""
        for _ in range(100):
            shutil.rmtree(around.name, ignore_errors=True)
            if not os.path.exists(around.name):
                break
            time.sleep(0.1)
        around.cleanup()

    def write(self, colour, trust):
        replace(self.config, CONFIG % (self.workspace, colour, trust))

    def colour(self):
        result, news = self.client.ask("tools/call", {"name": "bash", "arguments": {"command": "echo $COLOUR"}})
        return result["content"][0]["text"].strip(), news

    def methods(self, news):
        return [message["method"] for message in news]

    def test_a_change_holds_from_the_next_call_on(self):
        self.assertEqual(self.colour(), ("red", []))
        self.write("green", "full")
        colour, news = self.colour()
        self.assertEqual(colour, "green")
        self.assertEqual(self.methods(news), ["notifications/message"])
        self.assertEqual(news[0]["params"]["level"], "notice")
        self.assertEqual(self.colour(), ("green", []))  # told once

    def test_a_broken_file_changes_nothing_and_a_restored_one_does(self):
        replace(self.config, "[sandbox]\nmemroy = 1\n")
        colour, news = self.colour()
        self.assertEqual(colour, "red")
        self.assertEqual(news[0]["params"]["level"], "error")
        self.assertIn("memroy", news[0]["params"]["data"])
        self.assertEqual(self.colour(), ("red", []))
        os.unlink(self.config)
        colour, news = self.colour()
        self.assertEqual(colour, "red")
        self.assertEqual(news[0]["params"]["level"], "error")
        self.write("blue", "full")
        self.assertEqual(self.colour()[0], "blue")
        self.client.close()
        self.assertIn("memroy", "".join(self.client.log))

    def test_a_file_that_others_can_change_is_not_taken(self):
        self.assertEqual(self.colour()[0], "red")
        self.write("green", "full")
        os.chmod(self.config, 0o666)
        colour, news = self.colour()
        self.assertEqual(colour, "red")
        self.assertIn("can be changed by others", news[0]["params"]["data"])
        os.chmod(self.config, 0o600)
        self.assertEqual(self.colour()[0], "green")  # control: the same text

    def test_the_set_of_tools_changes_with_the_trust(self):
        names = {tool["name"] for tool in self.client.ask("tools/list")[0]["tools"]}
        self.assertIn("bash", names)
        self.write("red", "familiar")
        result, news = self.client.ask("tools/call", {"name": "bash", "arguments": {"command": "true"}})
        self.assertTrue(result["isError"], result)
        self.assertEqual(self.methods(news), ["notifications/message", "notifications/tools/list_changed"])
        self.assertNotIn("bash", {tool["name"] for tool in self.client.ask("tools/list")[0]["tools"]})

    def test_who_is_taken_out_of_the_file_can_do_nothing_any_more(self):
        self.assertEqual(self.colour()[0], "red")  # control
        text = open(self.config, encoding="utf-8").read()
        replace(self.config, text.replace('"bob"', '"carol"'))
        result, news = self.client.ask("tools/call", {"name": "bash", "arguments": {"command": "true"}})
        self.assertTrue(result["isError"], result)
        self.assertIn("notifications/tools/list_changed", self.methods(news))
        self.assertNotIn("bash", {tool["name"] for tool in self.client.ask("tools/list")[0]["tools"]})
        self.write("blue", "full")
        self.assertEqual(self.colour()[0], "blue")

    def test_a_policy_file_is_followed_too_whether_or_not_coop_toml_is_broken(self):
        secret = os.path.join(self.workspace, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("key")
        look = {"name": "bash", "arguments": {"command": "cat secret"}}
        self.assertEqual(self.client.ask("tools/call", look)[0]["content"][0]["text"].strip(), "key")  # control
        replace(self.policy, '[sandbox]\nhidden_paths = ["%s"]\n' % secret)
        self.assertNotIn("key", self.client.ask("tools/call", look)[0]["content"][0]["text"])
        replace(self.config, "broken")
        self.assertNotIn("key", self.client.ask("tools/call", look)[0]["content"][0]["text"])
        replace(self.policy, "[sandbox]\n")
        result, news = self.client.ask("tools/call", look)
        self.assertEqual(result["content"][0]["text"].strip(), "key")
        self.assertEqual(news[0]["params"]["level"], "error")

    def test_a_policy_that_is_away_for_a_moment_still_holds(self):
        secret = os.path.join(self.workspace, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("key")
        text = '[sandbox]\nhidden_paths = ["%s"]\n' % secret
        replace(self.policy, text)
        look = {"name": "bash", "arguments": {"command": "cat secret"}}
        self.assertNotIn("key", self.client.ask("tools/call", look)[0]["content"][0]["text"])
        os.unlink(self.policy)
        threading.Timer(0.2, replace, (self.policy, text)).start()
        self.assertNotIn("key", self.client.ask("tools/call", look)[0]["content"][0]["text"])


    def hide(self):
        secret = os.path.join(self.workspace, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("key")
        text = '[sandbox]\nhidden_paths = ["%s"]\n' % secret
        replace(self.policy, text)
        self.assertTrue(self.read_secret()["isError"])
        return text

    def read_secret(self):
        return self.client.ask("tools/call", {"name": "read_file", "arguments": {"path": "secret"}})[0]

    def test_a_file_that_is_emptied_and_written_again_still_holds(self):
        text = self.hide()
        for pause in (0, 0.1, 0.3):
            with open(self.policy, "w", encoding="utf-8") as file:
                file.flush()
                timer = threading.Timer(pause, lambda: (file.write(text), file.flush()))
                timer.start()
                self.assertTrue(self.read_secret()["isError"], pause)
                timer.join()
        replace(self.policy, "[sandbox]\n")
        self.assertFalse(self.read_secret()["isError"])  # control

    def test_a_file_that_changes_all_the_time_gives_nothing(self):
        text = self.hide()
        ended = threading.Event()

        def write():
            while not ended.wait(0.01):
                with open(self.policy, "w", encoding="utf-8") as file:
                    file.write(text)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            answers = [self.read_secret()["isError"] for _ in range(4)]
        finally:
            ended.set()
            writer.join()
        self.assertEqual(answers, [True] * 4)

    def test_a_command_cannot_bring_back_an_approval(self):
        outside = os.path.join(os.path.dirname(self.workspace), "outside")
        with open(outside, "w", encoding="utf-8") as file:
            file.write("outside")
        project = os.path.join(self.workspace, ".coop/policy.toml")
        text = '[sandbox]\nreadable_paths = ["%s"]\n' % outside
        os.mkdir(os.path.dirname(project))
        with open(project, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([COOP, "policy", "approve", "--yes"], cwd=self.workspace, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        look = {"name": "read_file", "arguments": {"path": outside}}
        self.assertFalse(self.client.ask("tools/call", look)[0]["isError"])  # control: approved
        os.unlink(project)
        os.rmdir(os.path.dirname(project))
        self.assertTrue(self.client.ask("tools/call", look)[0]["isError"])
        command = "mkdir .coop; printf '%s' > .coop/policy.toml; touch made; sleep 3" % text.replace("\n", "\\n")
        other = threading.Thread(target=self.second_call, args=(command,))
        other.start()
        while not os.path.exists(os.path.join(self.workspace, "made")):
            time.sleep(0.02)
        with open(project, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)  # control: it is the approved text
        self.assertTrue(self.client.ask("tools/call", look)[0]["isError"])
        self.write("green", "full")  # another reason to read everything again
        self.assertTrue(self.client.ask("tools/call", look)[0]["isError"])
        other.join()

    def second_call(self, command):
        self.client.tell("tools/call", {"name": "bash", "arguments": {"command": command}})


class ReloadOverHttp(Reload):
    transport = Http


class Idle(Reload):
    """A client that waits hears of a change without asking."""

    def test_a_change_holds_from_the_next_call_on(self):
        self.colour()
        self.write("red", "familiar")
        heard = [self.client.messages.get(timeout=10)["method"] for _ in range(2)]
        self.assertEqual(heard, ["notifications/message", "notifications/tools/list_changed"])


class Terminate(Reload):
    """What ended with a leak stays ended, also when the files change during the call that leaks."""

    flags = ["--on-leak", "terminate"]

    def test_a_change_holds_from_the_next_call_on(self):
        self.second_call("touch started; sleep 2; printf '%s%s\\n' ghp_ 9aBcD2efGh1jKlMnOpQrStUvWxYz03456789")
        while not os.path.exists(os.path.join(self.workspace, "started")):
            time.sleep(0.02)
        self.write("green", "full")
        self.assertEqual(self.colour()[0], "green")  # control: read again
        time.sleep(2.5)
        self.assertIn("leak guard", self.colour()[0])


for name in [name for name in dir(Reload) if name.startswith("test_") and "next_call" not in name]:
    setattr(Idle, name, None)
    setattr(Terminate, name, None)

if __name__ == "__main__":
    main()
