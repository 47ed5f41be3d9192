"""Real agents with `coop mcp` as their tools, against a model that follows a script: what the model gets to read."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from run_tests import main, need

COOP = os.environ["COOP_PROGRAM"]
AGENTS = os.path.join(os.environ["COOP_AGENTS"], "lib/node_modules")
CLAUDE = os.path.join(AGENTS, "@anthropic-ai/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
CODEX = os.path.join(AGENTS, "@openai/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
GEMINI = os.path.join(AGENTS, "@google/gemini-cli/bundle/gemini.js")
MOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mock_model.py")
WORD = "harvest-moon-7731"


class Turn:
    """One headless turn of an agent in a workspace of its own."""

    def __init__(self, prefix):
        self.place = tempfile.TemporaryDirectory()
        self.home, self.workspace = self.path("home"), self.path("workspace")
        os.makedirs(self.home)
        os.makedirs(self.workspace)
        self.write("workspace/notes.txt", f"the word is {WORD}\n")
        self.write("script.json", json.dumps([
            {"tool": prefix + "read_file", "arguments": {"path": "notes.txt"}},
            {"tool": prefix + "search_files", "arguments": {"pattern": "the word"}},
            {"tool": prefix + "bash", "command": "echo made > made.txt; hostname"},
            {"text": "all done"}]))
        self.mock = subprocess.Popen([sys.executable, MOCK, self.path("script.json"), self.path("log"), self.path("port")])
        while not os.path.exists(self.path("port")) or not self.read("port"):
            if self.mock.poll() is not None:
                raise RuntimeError("the mock ended")
        self.model = "http://127.0.0.1:" + self.read("port")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.mock.kill()
        self.mock.wait()
        self.place.cleanup()

    def path(self, name):
        return os.path.join(self.place.name, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command, environment):
        base = {"HOME": self.home, "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"}
        return subprocess.run(command, cwd=self.workspace, env=base | environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def results(self):
        """Each tool result that the model was sent, as text, in order."""
        last = [json.loads(line)["body"] or {} for line in self.read("log").splitlines()][-1]
        parts = []
        for message in last.get("messages", []):
            parts += [part for part in message["content"] if isinstance(part, dict) and part.get("type") == "tool_result"]
        parts += [item for item in last.get("input", []) if isinstance(item, dict) and "output" in item]
        parts += [part for content in last.get("contents", []) for part in content["parts"] if "functionResponse" in part]
        return [json.dumps(part) for part in parts]


class Agents(unittest.TestCase):
    def check(self, turn, ran):
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("all done", ran.stdout)
        read, found, said = turn.results()
        self.assertIn(WORD, read)
        self.assertIn("notes.txt:1", found)
        self.assertIn("coop-", said)  # the host name of a sandbox
        self.assertEqual(turn.read("workspace/made.txt"), "made\n")
        self.assertEqual(sorted(os.listdir(turn.workspace)), ["made.txt", "notes.txt"])

    def test_claude_code(self):
        with Turn("mcp__coop__") as turn:
            turn.write("mcp.json", json.dumps({"mcpServers": {"coop": {"command": COOP, "args": ["mcp"]}}}))
            self.check(turn, turn.run(
                [CLAUDE, "-p", "read the notes", "--mcp-config", turn.path("mcp.json"), "--strict-mcp-config",
                 "--allowedTools", "mcp__coop__read_file,mcp__coop__search_files,mcp__coop__bash"],
                {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": turn.model, "ENABLE_TOOL_SEARCH": "false",
                 "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}))

    def test_codex(self):
        with Turn("mcp__coop__") as turn:
            turn.write("home/.codex/config.toml", f"""
model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "{turn.model}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[mcp_servers.coop]
command = "{COOP}"
args = ["mcp"]
default_tools_approval_mode = "approve"
""")
            self.check(turn, turn.run([CODEX, "exec", "--skip-git-repo-check", "-s", "read-only", "read the notes"],
                                      {"MOCK_KEY": "test"}))

    def test_gemini(self):
        with Turn("mcp_coop_") as turn:
            turn.write("home/.gemini/settings.json", json.dumps({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "mcpServers": {"coop": {"command": COOP, "args": ["mcp"], "trust": True}}}))
            self.check(turn, turn.run(
                ["node", GEMINI, "--skip-trust", "-m", "gemini-2.5-pro", "-p", "read the notes"],
                {"GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": turn.model, "GEMINI_CLI_TRUST_WORKSPACE": "true"}))


need(*(path for path in (CLAUDE, CODEX, GEMINI) if not os.path.exists(path)))
main()
