"""Real agents inside, at a terminal (tmux): they draw, take a new size, show the model's answer, end with Ctrl-C, and leave nothing
running and the terminal as it was."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

import preset_home
from preset_home import AGENTS, COOP, HOME, NPM_GLOBAL, SYSTEM, Model, clone_into, coop, home_of, write
from run_tests import main, need

ANSWER = "the answer is plum-4471"
PROMPT = "which fruit is it"


def until(condition, seconds=180):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    return condition()


def mounts():
    return preset_home.read("/proc/self/mountinfo")


def running(mark):
    """Processes of coop, and those in a sandbox of this test."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = file.read()
        except OSError:
            continue
        if command[0] == COOP.encode() or mark.encode() in variables:
            found.append(command)
    return found


class Terminal(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="coop-presets-")
        self.addCleanup(self.place.cleanup)
        self.workspace = clone_into(os.path.join(HOME, "project"))
        self.addCleanup(shutil.rmtree, self.workspace)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-L", "coop", "-f", "/dev/null", *words], capture_output=True, text=True, check=False,
                              env=self.environment | {"TMUX_TMPDIR": self.place.name})

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def wait_for(self, condition):
        self.assertTrue(until(condition), self.screen())

    def start(self, command):
        after = "; echo ended $?; stty -a; trap '' INT; exec cat"
        # The size first; Ctrl-C is for the command, not for this shell.
        started = self.tmux("new-session", "-d", "-x", "90", "-y", "30", "-c", self.workspace,
                            "trap : INT; " + shlex.join(command) + after)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.tmux, "kill-server")

    def whole_session(self, name, prefix, arguments, seeds, ready):
        """`seeds`: what the dialogs of a first start would have written into the agent's own home."""
        agent, mark = AGENTS[name], "mark-" + os.path.basename(self.place.name)
        self.environment = preset_home.environment(prefix)
        mounted = mounts()
        with Model(agent, [{"text": ANSWER}]) as model:
            policy = os.path.join(HOME, ".config/coop/policy.toml")
            write(policy, preset_home.read(policy) + f'COOP_TEST_MARK = "{mark}"\n')
            made = coop("run", "--", name, "--version", cwd=self.workspace, prefix=prefix)
            self.assertEqual(made.returncode, 0, made.stderr)
            home_name, home = home_of(name, self.workspace)
            for path, text in seeds.items():
                old = os.path.join(home, path)
                write(old, text + (preset_home.read(old) if path.endswith(".toml") and os.path.exists(old) else ""))
            self.start([COOP, "run", "--", name, *arguments(model.url)])
            self.wait_for(lambda: ready in self.screen())
            self.assertTrue(running(mark))  # the control: they would be seen
            self.tmux("send-keys", "-l", PROMPT)
            self.wait_for(lambda: PROMPT in self.screen())
            # Enter that comes too early after the text is taken for a part of what was pasted.
            self.wait_for(lambda: self.tmux("send-keys", "Enter") and until(lambda: ANSWER in self.screen(), 3))
            self.assertIn(PROMPT, model.log())
            self.assertLessEqual(self.width(), 90)
            self.tmux("resize-window", "-x", "120", "-y", "40")
            self.wait_for(lambda: self.width() > 110)
            # Some end with the second that comes soon after the first.
            self.wait_for(lambda: self.tmux("send-keys", "C-c") and until(lambda: "ended " in self.screen(), 0.3))
            self.wait_for(lambda: "icanon" in self.screen())
        settings = self.screen().split("ended ")[1]
        self.assertIn(settings.split()[0], ("0", "130"), self.screen())
        for setting in ("isig", "icanon", "echo", "icrnl", "opost", "onlcr"):
            self.assertRegex(settings, rf"[^-]\b{setting}\b")
        flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{pane_dead}"
        self.assertEqual(self.tmux("display-message", "-p", flags).stdout.split(), ["0", "1", "0", "0", "0"])
        self.assertTrue(until(lambda: not running(mark), 60), running(mark))
        self.assertEqual(mounts(), mounted)
        self.assertEqual(preset_home.git(self.workspace, "status", "--porcelain", "--ignored"), "")
        self.assertEqual(coop("home", "rm", home_name).returncode, 0)

    def width(self):
        """Of what is drawn: the longest line, with its background."""
        return max(len(line) for line in self.tmux("capture-pane", "-p", "-N").stdout.splitlines() or [""])

    def test_claude(self):
        begun = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["test"], "rejected": []},
                 "projects": {self.workspace: {"hasTrustDialogAccepted": True}}}
        self.whole_session("claude", SYSTEM, lambda model: [], {".claude.json": json.dumps(begun)}, "❯")

    def test_codex(self):
        trusted = f'[projects."{self.workspace}"]\ntrust_level = "trusted"\n\n'
        self.whole_session("codex", NPM_GLOBAL, preset_home.codex_provider, {".codex/config.toml": trusted}, "›")

    def test_gemini(self):
        seeds = {path: json.dumps(settings) for path, settings in AGENTS["gemini"].settings.items()}
        self.whole_session("gemini", SYSTEM, lambda model: [], seeds, "Type your message")

    def test_opencode(self):
        self.whole_session("opencode", NPM_GLOBAL, lambda model: [], {}, "Ask anything")


if __name__ == "__main__":
    need(*(name for name in ("tmux",) if shutil.which(name) is None))
    main()
