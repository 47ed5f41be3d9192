"""`coop setup`: real agents in a home that it has set up, its undoing, and files that make trouble."""

import json
import os
import pty
import shutil
import stat
import subprocess
import tempfile
import unittest

from run_tests import main, need, only_if
from turn import CLAUDE, CODEX, COOP, GEMINI, GEMINI_LOGIN, Turn, claude, codex, codex_settings, gemini

CANARY = "canary-4471"
IN_SANDBOX = "hostname; pwd; cat ~/canary {home}/canary; echo made > made.txt; exit 7"


def setup(home, *words, program=COOP, cwd="/", **variables):
    return subprocess.run([program, "setup", *words], env={"HOME": home, "PATH": os.environ["PATH"], **variables}, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


class Agents(unittest.TestCase):
    def done(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def turn(self, tool, file, text, *words):
        """A turn of a client that is set up, after a way there and back."""
        home = "{home}"
        turn = Turn([{"tool": tool, "command": IN_SANDBOX.format(home=home)}])
        script = turn.read("script.json").replace(home, turn.home)
        turn.write("script.json", script)
        turn.write("home/canary", CANARY)
        turn.write("home/" + file, text(turn))
        before = turn.read("home/" + file)
        self.done(setup(turn.home, *words, "--yes"))
        self.assertNotEqual(turn.read("home/" + file), before)
        self.done(setup(turn.home, "--undo", "--yes"))
        self.assertEqual(turn.read("home/" + file), before)
        self.done(setup(turn.home, *words, "--yes"))
        return turn, before

    def check(self, turn, ran, own_tools):
        self.done(ran)
        self.assertIn("all done", ran.stdout)
        result, = turn.results()
        self.assertIn("coop-", result)  # the host name of a sandbox
        self.assertNotIn(CANARY, result)
        self.assertEqual(turn.read("workspace/made.txt"), "made\n")
        self.assertEqual(turn.offered() & own_tools, set())

    def test_claude_code_has_the_tools_of_coop_alone(self):
        settings = ".claude/settings.json"
        turn, before = self.turn("mcp__coop__bash", settings, lambda _: '{"model":"opus",\n\n "permissions": {"allow": []}}',
                                 "claude")
        with turn:
            self.check(turn, claude(turn), {"Bash", "Read", "Edit", "Write", "Glob", "Grep", "WebFetch", "Monitor"})
            self.assertIn("mcp__coop__read_file", turn.offered())
            self.done(setup(turn.home, "claude", "--undo", "--yes"))
            self.assertEqual(turn.read("home/" + settings), before)
            # Claude Code has written its own state into this file.
            self.assertNotIn("mcpServers", json.loads(turn.read("home/.claude.json")))

    def test_codex_has_the_tools_of_coop_alone(self):
        turn, before = self.turn("mcp__coop__bash", ".codex/config.toml",
                                 lambda turn: "# mine\n" + codex_settings(turn) + "[features] # too\nweb = true", "codex")
        with turn:
            self.check(turn, codex(turn), {"exec_command", "write_stdin", "shell", "local_shell", "view_image"})
            self.done(setup(turn.home, "codex", "--undo", "--yes"))
            self.assertEqual(turn.read("home/.codex/config.toml"), before)

    def test_gemini_has_the_tools_of_coop_alone(self):
        turn, before = self.turn("mcp_coop_bash", ".gemini/settings.json",
                                 lambda _: "// mine\n" + json.dumps(GEMINI_LOGIN, indent=4) + "\n", "gemini")
        with turn:
            self.check(turn, gemini(turn), {"run_shell_command", "read_file", "write_file", "replace", "glob",
                                            "grep_search", "list_directory", "web_fetch"})
            self.assertIn("mcp_coop_read_file", turn.offered())
            self.done(setup(turn.home, "gemini", "--undo", "--yes"))
            self.assertEqual(turn.read("home/.gemini/settings.json"), before)

    def test_claude_code_runs_its_own_bash_in_the_sandbox(self):
        turn, before = self.turn("Bash", ".claude/settings.json", lambda _: "{}\n", "claude", "--bash")
        with turn:
            self.check(turn, claude(turn), {"Monitor"})
            result, = turn.results()
            self.assertIn("Exit code 7", result)
            self.assertIn(turn.workspace, result)  # the paths of its file tools
            self.assertIn("No such file or directory", result)  # standard error too
            self.done(setup(turn.home, "claude", "--undo", "--yes"))
            self.assertEqual(turn.read("home/.claude/settings.json"), before)

    def test_without_coop_the_command_does_not_run(self):
        turn = Turn([{"tool": "Bash", "command": "echo made > made.txt"}])
        with turn:
            shutil.copytree(os.path.dirname(os.path.dirname(COOP)), turn.path("coop it's"))
            self.done(setup(turn.home, "claude", "--bash", "--yes", program=turn.path("coop it's/bin/coop")))
            os.remove(turn.path("coop it's/bin/coop"))
            self.done(claude(turn, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"))
            self.assertEqual(os.listdir(turn.workspace), [])


class Files(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.home = place.name
        self.settings = os.path.join(self.home, ".claude/settings.json")
        os.makedirs(os.path.dirname(self.settings))

    def put(self, text, path=None):
        with open(path or self.settings, "w", encoding="utf-8") as file:
            file.write(text)

    def refused(self, said):
        before = sorted(os.listdir(self.home))
        ran = setup(self.home, "claude", "--yes")
        self.assertEqual(ran.returncode, 125)
        self.assertIn(said, ran.stderr)
        self.assertEqual(sorted(os.listdir(self.home)), before)  # all or nothing: no .claude.json

    def test_without_a_terminal_nothing_is_written(self):
        ran = setup(self.home, "claude")
        self.assertEqual(ran.returncode, 125)
        self.assertIn("+++ " + self.settings, ran.stdout)
        self.assertIn("hint: --yes", ran.stderr)
        self.assertEqual(os.listdir(self.home), [".claude"])
        self.assertEqual(setup(self.home, "claude", "--dry-run").returncode, 0)
        self.assertEqual(os.listdir(self.home), [".claude"])

    def test_files_of_its_own_go_again(self):
        self.assertEqual(setup(self.home, "claude", "--yes").returncode, 0)
        again = setup(self.home, "claude", "--yes")
        self.assertEqual((again.returncode, again.stdout), (0, ""))
        self.assertIn("set up already", again.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.settings).st_mode), 0o600)
        trial = setup(self.home, "claude", "--undo", "--dry-run")
        self.assertIn("+++ /dev/null", trial.stdout)
        self.assertEqual(setup(self.home, "--undo", "--yes").returncode, 0)
        self.assertEqual(os.listdir(os.path.dirname(self.settings)), [])
        self.assertFalse(os.path.exists(os.path.join(self.home, ".claude.json")))

    def test_a_mistake_in_a_file_is_named(self):
        self.put('{\n  "model": opus\n}\n')
        self.refused(self.settings + ": line 2, column 12: expected a value")

    def test_a_file_of_another_user_is_refused(self):
        other = os.path.join(self.home, "other.json")
        if os.geteuid() == 0:
            self.put("{}", other)
            os.chown(other, 65534, 65534)
        else:
            other = "/etc/hostname"
        os.symlink(other, self.settings)
        self.refused("belongs to another user")

    def test_a_read_only_file_is_refused(self):
        self.put("{}")
        os.chmod(self.settings, 0o444)
        self.refused("is read-only")

    def test_what_is_no_plain_file_is_refused(self):
        os.mkfifo(self.settings)
        self.refused("is not a plain file")
        os.remove(self.settings)
        os.symlink(self.home + "/nowhere", self.settings)
        self.refused("is a symlink that leads nowhere")

    def test_a_huge_file_is_refused(self):
        self.put('{"a": "' + "x" * (17 << 20) + '"}')
        self.refused(self.settings)

    def test_a_symlink_stays_one_and_the_mode_stays(self):
        mine = os.path.join(self.home, "dotfiles.json")
        self.put("{}\n", mine)
        os.chmod(mine, 0o640)
        os.symlink(mine, self.settings)
        self.assertEqual(setup(self.home, "claude", "--yes").returncode, 0)
        self.assertTrue(os.path.islink(self.settings))
        self.assertIn(b"mcp__coop", contents(mine))
        self.assertEqual(stat.S_IMODE(os.stat(mine).st_mode), 0o640)
        self.assertEqual(setup(self.home, "claude", "--undo", "--yes").returncode, 0)
        self.assertEqual(contents(mine), b"{}\n")

    def test_entries_that_were_changed_are_left_and_named(self):
        self.assertEqual(setup(self.home, "claude", "--yes").returncode, 0)
        servers = os.path.join(self.home, ".claude.json")
        mine = json.loads(contents(servers))
        mine["mcpServers"]["coop"]["args"] = ["mcp", "--memory", "1g"]
        self.put(json.dumps(mine), servers)
        ran = setup(self.home, "claude", "--undo", "--yes")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("left as it is, you have changed it since: mcpServers.coop", ran.stderr)
        self.assertEqual(json.loads(contents(servers)), mine)
        self.assertFalse(os.path.exists(self.settings))

    def answered(self, answer, change=lambda: None):
        """The status and output of a setup at a terminal, with a change of the files before the answer."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["HOME"] = self.home
            os.execv(COOP, [COOP, "setup", "claude"])
        said = b""
        while b"[y/N]" not in said:
            said += os.read(terminal, 4096)
        change()
        os.write(terminal, answer)
        try:
            while piece := os.read(terminal, 4096):
                said += piece
        except OSError:
            pass  # the end
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()

    def test_it_asks_at_a_terminal(self):
        self.put("{}")
        self.assertEqual(self.answered(b"n\n")[0], 1)
        self.assertEqual(contents(self.settings), b"{}")
        self.assertEqual(self.answered(b"y\n")[0], 0)
        self.assertIn(b"mcp__coop", contents(self.settings))

    def test_a_file_that_changes_before_the_answer_is_left(self):
        self.put("{}")
        status, said = self.answered(b"y\n", lambda: self.put('{"mine": 1}'))
        self.assertEqual(status, 125)
        self.assertIn("has changed meanwhile", said)
        self.assertEqual(contents(self.settings), b'{"mine": 1}')
        self.assertFalse(os.path.exists(os.path.join(self.home, ".claude.json")))  # written before, and taken back

    def record(self):
        return os.path.join(self.home, ".local/state/coop/setup/claude.json")

    @only_if(os.geteuid() == 0)  # who could write the files of others
    def test_as_root_the_home_of_another_user_is_refused(self):
        os.chown(self.home, 65534, 65534)
        self.refused("belongs to another user")
        ran = setup(self.home, "--undo", "--yes")
        self.assertEqual((ran.returncode, "belongs to another user" in ran.stderr), (125, True))
        os.chown(self.home, 0, 0)
        os.chown(os.path.dirname(self.settings), 65534, 65534)
        self.refused("belongs to another user")

    def test_a_record_of_another_form_is_not_obeyed(self):
        self.assertEqual(setup(self.home, "claude", "--yes").returncode, 0)
        text = contents(self.record()).decode()

        def refuse(said):
            ran = setup(self.home, "--undo", "--yes")
            self.assertEqual(ran.returncode, 125, ran.stdout)
            self.assertIn(said, ran.stderr)

        other = os.path.join(self.home, "other.json")
        self.put("{}", other)
        self.put(text.replace(self.settings, other), self.record())
        refuse("which is not a setting of Claude Code")
        self.assertEqual(contents(other), b"{}")
        self.put(text, self.record())
        os.chmod(self.record(), 0o622)
        refuse("can be written by other users")
        os.remove(self.record())
        os.mkfifo(self.record(), 0o600)
        refuse("is not a plain file")
        os.remove(self.record())
        self.put(text, other)
        os.symlink(other, self.record())
        refuse("is a symlink")

    def test_state_in_the_project_is_refused(self):
        project = os.path.join(self.home, "project")
        inner = os.path.join(project, "src")
        os.makedirs(os.path.join(project, ".git"))
        os.makedirs(inner)
        state = os.path.join(project, ".state")
        for words in (("claude", "--yes"), ("--undo", "--yes")):
            for place in (project, inner):
                ran = setup(self.home, *words, cwd=place, XDG_STATE_HOME=state)
                self.assertEqual(ran.returncode, 125)
                self.assertIn("lies in the project", ran.stderr)
        self.assertFalse(os.path.exists(state))
        self.assertEqual(setup(self.home, "claude", "--yes", cwd=inner).returncode, 0)
        self.assertEqual(setup(self.home, "--undo", "--yes", cwd="/", XDG_STATE_HOME=state).returncode, 0)

    def test_directories_that_it_made_go_again(self):
        before = os.listdir(self.home)
        for client in ("cursor", "copilot", "vscode", "codex"):
            self.assertEqual(setup(self.home, client, "--yes").returncode, 0)
        self.put("mine", os.path.join(self.home, ".codex/mine"))
        self.assertEqual(setup(self.home, "--undo", "--yes").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.home)), sorted([*before, ".codex", ".local"]))
        self.assertEqual(os.listdir(os.path.join(self.home, ".codex")), ["mine"])
        listed = {one["name"]: one for one in json.loads(setup(self.home, "--json", PATH="/nowhere").stdout)["clients"]}
        self.assertEqual({name for name, one in listed.items() if one["found"]}, {"claude", "codex"})

    def test_settings_that_work_against_it_are_named(self):
        config = os.path.join(self.home, ".codex/config.toml")
        os.makedirs(os.path.dirname(config))
        self.put("# mine\n[mcp_servers.coop]\nenabled = false\nenv = { A = \"1\" }\n[profiles.x.features]\n"
                 "shell_tool = true\n[profiles.y]\nsandbox_mode = \"read-only\"\n", config)
        for _ in range(2):
            ran = setup(self.home, "codex", "--yes")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            lines = contents(config).decode().splitlines()
            for name in ("enabled", "env", "shell_tool = true"):
                line = next(at + 1 for at, text in enumerate(lines) if text.startswith(name))
                self.assertIn(f"line {line} of {config}: ", ran.stderr)
            self.assertNotIn("profiles.y", ran.stderr)
            self.assertNotIn("is set up", ran.stderr)
            self.assertIn("other settings of yours work against them", ran.stderr)

    def test_a_link_is_shown_with_its_target(self):
        mine = os.path.join(self.home, "dotfiles.json")
        self.put("{}\n", mine)
        os.symlink(mine, self.settings)
        self.assertIn(f"+++ {self.settings} -> {mine}\n", setup(self.home, "claude", "--dry-run").stdout)

    def test_mistakes_of_the_caller_are_named_once(self):
        self.assertEqual(setup(self.home, "claude", "--yes").returncode, 0)
        ran = setup(self.home, "claude", "--bash", "--yes")
        self.assertIn("coop: setup claude: it is set up the other way", ran.stderr)
        ran = setup(self.home, "--bash")
        self.assertEqual(ran.returncode, 125)
        self.assertIn("--bash needs the name of a client", ran.stderr)

    def test_a_hook_without_an_output_refuses(self):
        event = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "id"}})
        for end in (">&-", ">/dev/full", ">/dev/null"):
            ran = subprocess.run(["sh", "-c", f'"$0" hook claude {end}', COOP], input=event, stderr=subprocess.PIPE, text=True,
                                 check=False)
            self.assertEqual(ran.returncode, 2, end)
            self.assertNotEqual(ran.stderr, "")

    def test_a_hook_refuses_what_it_does_not_know(self):
        for event in ("", "{", "{}", '{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {}}'):
            ran = subprocess.run([COOP, "hook", "claude"], input=event, capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), event)
            self.assertNotEqual(ran.stderr, "")

    def test_a_plain_call_is_as_the_command_itself(self):
        work = os.path.join(self.home, "work")
        os.mkdir(work)
        ran = subprocess.run([COOP, "tool", "bash", "--plain", json.dumps({"command": "echo out; echo err >&2; exit 3"})],
                             cwd=work, capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (3, "out\n", "err\n"))
        ran = subprocess.run([COOP, "tool", "bash", "--plain", json.dumps({"command": "printf x; sleep 9", "timeout": 1})],
                             cwd=work, capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (124, "x"))
        self.assertIn("killed after its timeout", ran.stderr)

    def test_a_command_is_no_option_of_bash(self):
        for command in ("--help", "-x", "-c id"):
            ran = subprocess.run([COOP, "tool", "bash", "--plain", json.dumps({"command": command})], cwd=self.home,
                                 env={**os.environ, "HOME": "/"}, capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (127, ""), command)
            self.assertIn("not found", ran.stderr)


need(*(path for path in (CLAUDE, CODEX, GEMINI) if not os.path.exists(path)))
main()
