"""One headless turn of a real agent, against a model that follows a script."""

import json
import os
import subprocess
import sys
import tempfile

COOP = os.environ["COOP_PROGRAM"]
AGENTS = os.path.join(os.environ["COOP_AGENTS"], "lib/node_modules")
CLAUDE = os.path.join(AGENTS, "@anthropic-ai/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
CODEX = os.path.join(AGENTS, "@openai/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
GEMINI = os.path.join(AGENTS, "@google/gemini-cli/bundle/gemini.js")
MOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mock_model.py")


class Turn:
    """One headless turn of an agent in a workspace of its own."""

    def __init__(self, script):
        self.place = tempfile.TemporaryDirectory()
        self.home, self.workspace = self.path("home"), self.path("workspace")
        os.makedirs(self.home)
        os.makedirs(self.workspace)
        self.write("script.json", json.dumps(script + [{"text": "all done"}]))
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

    def offered(self):
        """The tools that the model was offered, in the last request that had any."""
        names = set()
        for line in self.read("log").splitlines():
            tools = (json.loads(line)["body"] or {}).get("tools") or []
            found = set()
            for tool in tools:
                if tool.get("type") == "namespace":
                    found |= {tool["name"] + "__" + part["name"] for part in tool["tools"]}
                elif "functionDeclarations" in tool:
                    found |= {part["name"] for part in tool["functionDeclarations"]}
                else:
                    found.add(tool.get("name") or tool.get("type"))
            names = found or names
        return names


def claude(turn, *words):
    return turn.run([CLAUDE, "-p", "read the notes", *words],
                    {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": turn.model, "ENABLE_TOOL_SEARCH": "false",
                     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"})


def codex_settings(turn):
    return f"""model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "{turn.model}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
"""


def codex(turn):
    return turn.run([CODEX, "exec", "--skip-git-repo-check", "-s", "read-only", "read the notes"], {"MOCK_KEY": "test"})


GEMINI_LOGIN = {"security": {"auth": {"selectedType": "gemini-api-key"}}}


def gemini(turn):
    return turn.run(["node", GEMINI, "--skip-trust", "-m", "gemini-2.5-pro", "-p", "read the notes"],
                    {"GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": turn.model,
                     "GEMINI_CLI_TRUST_WORKSPACE": "true"})
