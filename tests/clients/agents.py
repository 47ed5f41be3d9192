"""Real agents with `coop mcp` as their tools, against a model that follows a script: what the model gets to read."""

import json
import os
import unittest

from run_tests import main, need
from turn import CLAUDE, CODEX, COOP, GEMINI, GEMINI_LOGIN, Turn, claude, codex, codex_settings, gemini

WORD = "harvest-moon-7731"


def turn_with(prefix):
    turn = Turn([{"tool": prefix + "read_file", "arguments": {"path": "notes.txt"}},
                 {"tool": prefix + "search_files", "arguments": {"pattern": "the word"}},
                 {"tool": prefix + "bash", "command": "echo made > made.txt; hostname"}])
    turn.write("workspace/notes.txt", f"the word is {WORD}\n")
    return turn


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
        with turn_with("mcp__coop__") as turn:
            turn.write("mcp.json", json.dumps({"mcpServers": {"coop": {"command": COOP, "args": ["mcp"]}}}))
            self.check(turn, claude(turn, "--mcp-config", turn.path("mcp.json"), "--strict-mcp-config", "--allowedTools",
                                    "mcp__coop__read_file,mcp__coop__search_files,mcp__coop__bash"))

    def test_codex(self):
        with turn_with("mcp__coop__") as turn:
            turn.write("home/.codex/config.toml", codex_settings(turn) + f"""
[mcp_servers.coop]
command = "{COOP}"
args = ["mcp"]
default_tools_approval_mode = "approve"
""")
            self.check(turn, codex(turn))

    def test_gemini(self):
        with turn_with("mcp_coop_") as turn:
            turn.write("home/.gemini/settings.json", json.dumps(
                GEMINI_LOGIN | {"mcpServers": {"coop": {"command": COOP, "args": ["mcp"], "trust": True}}}))
            self.check(turn, gemini(turn))


need(*(path for path in (CLAUDE, CODEX, GEMINI) if not os.path.exists(path)))
main()
