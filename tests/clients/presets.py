"""Real agents inside, started as a person starts them: `coop run -- AGENT`, no flag. The model on loopback asks for a shell
command that writes a file and reads the user's secrets. What it got to read, what is in the repository, and which hosts were asked.
"""

import json
import os
import pty
import subprocess
import unittest

import preset_home
from preset_home import (ADDRESS, AGENTS, CANARY, HOME, NAME, NPM_GLOBAL, NVM, OWN_PROGRAM, SECRETS, SRV, SYSTEM, UNKNOWN, Model,
                         changed, clone_into, coop, files_below, git, holds_canary, home_of, prepare_home, reading_of, turns)
from run_tests import main

STATE = os.path.join(HOME, ".local/state/coop")
WORD = "harvest-moon-7731"
KEPT = "kept-since-the-first-run"
# Writes the file, then reads the secrets: by name, by search, and from what git and the environment say.
COMMAND = (f"echo made > made.txt; echo {WORD}; hostname; echo {KEPT} > ~/.kept; {OWN_PROGRAM}; " + reading_of(SECRETS) +
           "; git config --list; env; find /home /root /tmp /var/tmp /srv /run /mnt -maxdepth 4 -name id_ed25519 -exec cat {} +"
           "; cat /proc/$PPID/environ; echo the-end-of-it")
COMMIT = 'git add made.txt && %s commit --quiet -m "made inside"; cat ~/.kept; echo the-end-of-it'


def setUpModule():
    preset_home.make_secrets()


class Presets(unittest.TestCase):
    def project(self, path):
        self.addCleanup(subprocess.run, ["rm", "-rf", path], check=True)
        return clone_into(path)

    def snapshot(self, workspace):
        return files_below(HOME, {STATE, workspace, os.path.join(HOME, ".config/coop")})

    def run_agent(self, agent, model, workspace, prefix, *flags):
        return coop("run", *flags, "--", agent.name, *model.arguments("make the file"), cwd=workspace, prefix=prefix)

    def check_model(self, model):
        """The results of the command have come to the model, and no secret with them."""
        # What is not JSON (compressed, say) could hide one.
        self.assertEqual([request["path"] for request in map(json.loads, model.log().splitlines()) if "raw" in request], [])
        [result] = model.results()
        self.assertIn("the-end-of-it", result)
        at = model.log().find(CANARY)
        self.assertEqual(at, -1, model.log()[max(at - 500, 0):at + 200])
        return result

    def new_in_git(self, agent, before, workspace):
        """Names in .git that were not there before, without those that the documents name and those of a commit."""
        now = files_below(os.path.join(workspace, ".git"))
        self.assertEqual([before[name] for name in ("config", "HEAD")], [now[name] for name in ("config", "HEAD")])
        self.assertEqual([name for name in now if name.startswith("hooks/")], [name for name in before if name.startswith("hooks/")])
        known = ("objects", "logs", "index", "COMMIT_EDITMSG", *agent.in_git)
        return [name for name in now if name not in before and name.split("/")[0] not in known]

    def whole_turn(self, name, first, second, workspace):
        agent = AGENTS[name]
        workspace = self.project(workspace)
        before, git_before = self.snapshot(workspace), files_below(os.path.join(workspace, ".git"))
        # First as people type it.
        with Model(agent, turns(COMMAND)) as model:
            prepare_home(agent, workspace, first)
            ran = self.run_agent(agent, model, workspace, first)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertIn("all done", ran.stdout)
            result = self.check_model(model)
            self.assertIn(WORD, result)
            self.assertIn("coop-" + name, result)  # the name of the host
            self.assertIn("from-the-home", result)
        self.assertEqual(preset_home.read(os.path.join(workspace, "made.txt")), "made\n")
        self.assertEqual(git(workspace, "status", "--porcelain", "--ignored"), "?? made.txt\n")
        self.assertEqual(self.new_in_git(agent, git_before, workspace), [])
        self.assertEqual(changed(before, self.snapshot(workspace)), [])
        home_name, home = home_of(name, workspace)
        self.assertTrue(os.listdir(os.path.join(home, agent.state)))
        # Then with what coop has to tell about it; the agent is another installation of the same, and commits.
        with Model(agent, turns(COMMIT % agent.git)) as model:
            ran = self.run_agent(agent, model, workspace, second, "--json")
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            result = json.loads(ran.stdout)
            self.assertIn("all done", result["stdout"]["text"])
            said = self.check_model(model)
            self.check_network(agent, model, result)
        self.assertEqual((result["exit_code"], result["quarantined"], result["quarantined_total"]), (0, [], 0), result)
        self.assertEqual(git(workspace, "log", "--format=%an <%ae> %s", "-1"), f"{NAME} <{ADDRESS}> made inside\n", said)
        self.assertEqual(git(workspace, "status", "--porcelain", "--ignored"), "")
        self.assertEqual(self.new_in_git(agent, git_before, workspace), [])
        self.assertEqual(changed(before, self.snapshot(workspace)), [])
        # The same home, with what the first run left in it, and no secret.
        self.assertEqual(home_of(name, workspace), (home_name, home))
        self.assertIn(KEPT, said)
        self.assertEqual(holds_canary(home), [])
        self.assertEqual(coop("home", "rm", home_name).returncode, 0)

    def check_network(self, agent, model, result):
        reached = {(entry["host"], entry["port"]) for entry in result["network"] if entry["verdict"] == "allowed"}
        self.assertEqual(reached, {("localhost", model.port)})
        refused = {entry["host"] for entry in result["network"] if entry["verdict"] != "allowed" and entry["rule"] == "no rule allows it"}
        self.assertLessEqual(refused, agent.refused)

    def test_claude(self):
        self.whole_turn("claude", SYSTEM, NPM_GLOBAL, os.path.join(HOME, "project"))

    def test_codex(self):
        self.whole_turn("codex", NVM, SYSTEM, os.path.join(HOME, "project"))

    def test_gemini(self):
        self.whole_turn("gemini", UNKNOWN, SYSTEM, os.path.join(SRV, "work/project"))

    def test_opencode(self):
        self.whole_turn("opencode", NPM_GLOBAL, UNKNOWN, os.path.join(SRV, "work/project"))

    def test_outside_the_same_command_reads_the_secrets(self):  # the control
        self.addCleanup(os.unlink, os.path.join(HOME, ".kept"))
        done = subprocess.run(["bash", "-c", COMMAND], cwd=self.project(os.path.join(HOME, "project")),
                              env=preset_home.environment(SYSTEM), capture_output=True, text=True, errors="replace", timeout=300,
                              check=False)
        for secret in ("ssh", "aws", "npm", "git", "claude", "codex", "gemini", "opencode", "header", "variable"):
            self.assertTrue(f"{CANARY}-{secret}" in done.stdout, secret)  # not the output: it is that of this machine

    def test_a_secret_that_was_shown_reaches_the_model(self):  # the control: this test would see it
        workspace = self.project(os.path.join(HOME, "shown"))
        with Model(AGENTS["claude"], turns(COMMAND)) as model:
            ran = self.run_agent(AGENTS["claude"], model, workspace, SYSTEM, "--ro", os.path.join(HOME, ".ssh"))
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(CANARY + "-ssh", model.log())
            self.assertNotIn(CANARY + "-aws", model.log())

    def test_the_repositorys_own_agent_gets_no_preset(self):
        workspace = self.project(os.path.join(HOME, "project"))
        own = os.path.join(workspace, "node_modules/.bin")
        preset_home.write(os.path.join(own, "claude"), "#!/bin/sh\nhostname\n", 0o755)
        with Model(AGENTS["claude"], turns(COMMAND)):
            ran = subprocess.run([preset_home.COOP, "run", "--", "claude"], cwd=workspace, stdin=subprocess.DEVNULL, timeout=300,
                                 env=preset_home.environment(SYSTEM) | {"PATH": own + ":/usr/bin:/bin"}, capture_output=True, text=True,
                                 check=False)
        self.assertNotIn("coop-claude", ran.stdout)
        self.assertIn("lies in the workspace", ran.stderr)

    def test_at_a_terminal_a_line_names_the_preset(self):
        workspace = self.project(os.path.join(HOME, "project"))
        for agent in ("claude", "codex"):
            said = self.at_a_terminal([preset_home.COOP, "run", "--", agent, "--version"], workspace)
            self.assertRegex(said, f"coop: [^\n]*preset {agent}")

    def at_a_terminal(self, command, workspace):
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(workspace)
            os.execve(command[0], command, preset_home.environment(SYSTEM))
        said = b""
        try:
            while part := os.read(terminal, 4096):
                said += part
        except OSError:
            pass  # EIO: it has ended
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, said)
        os.close(terminal)
        return said.decode(errors="replace")


if __name__ == "__main__":
    main()
