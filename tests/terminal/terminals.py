#!/usr/bin/python3
"""coop at real terminals: tmux, and xterm under Xvfb. What a hostile command writes has no effect on them (with the raw
setting as the control), and programs that draw whole screens and ask the terminal for its properties stay usable.

Exit 77: a program is missing, and COOP_TESTS_MUST_RUN is not 1.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(__file__), "../support"))  # or beside this file: as_user.sh copies it
import run_tests

COOP = os.environ["COOP_BINARY"]
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}
# Written by the command: text for the clipboard ("evil"), and a title that the terminal is then asked for.
CLIPBOARD = r"printf '\033]52;c;ZXZpbA==\007'"
TITLE = r"\033]2;evil\007\033[21t"


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    return condition()


def contents(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="coop-terminal-")
        self.addCleanup(self.directory.cleanup)
        self.place = self.directory.name
        os.mkdir(self.path("state"))
        os.mkdir(self.path("work"))
        self.environment = {**CLEAN, "XDG_STATE_HOME": self.path("state"), "TMUX_TMPDIR": self.place}

    def path(self, name):
        return os.path.join(self.place, name)

    def coop(self, command, *flags):
        return shlex.join([COOP, "run", "--quiet", "-w", self.path("work"), *flags, "--", "sh", "-c", command])


class Tmux(Case):
    def tmux(self, *words):
        return subprocess.run(["tmux", "-L", "coop", "-f", "/dev/null", *words], env=self.environment, capture_output=True,
                              text=True, check=False)

    def start(self, command):
        # The pane stays: what the terminal types after the command has ended must be seen.
        started = self.tmux("new-session", "-d", "-x", "80", "-y", "24", command + "; echo ended $?; exec cat")
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.tmux, "kill-server")
        self.tmux("set-option", "-s", "set-clipboard", "on")
        self.tmux("set-option", "-g", "allow-passthrough", "on")

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def shows(self, text):
        return until(lambda: text in self.screen())

    def clipboard(self, *flags):
        go = self.path("work/go")
        # Only once tmux has its options.
        self.start(self.coop("while [ ! -e go ]; do sleep 0.05; done; " + CLIPBOARD, *flags))
        open(go, "w", encoding="utf-8").close()
        self.assertTrue(self.shows("ended 0"), self.screen())
        return self.tmux("show-buffer").stdout

    def test_the_clipboard_is_not_written(self):
        self.assertEqual(self.clipboard(), "")

    def test_with_the_raw_setting_it_is(self):  # the control
        self.assertEqual(self.clipboard("--terminal", "raw"), "evil")

    def test_vim_edits_a_file(self):
        self.start(self.coop("exec vim -u NONE -N file"))
        self.assertTrue(self.shows("~"), self.screen())
        self.tmux("send-keys", "ihello from vim", "Escape", ":wq", "Enter")
        self.assertTrue(self.shows("ended 0"), self.screen())
        self.assertEqual(contents(self.path("work/file")), "hello from vim\n")
        self.assertNotIn("hello", self.screen())  # the first screen is back

    def test_less_pages_and_searches(self):
        self.start(self.coop("seq 1000 | LESS= less"))
        self.assertTrue(self.shows("23"), self.screen())
        self.tmux("send-keys", "/777", "Enter")
        self.assertTrue(self.shows("790"), self.screen())
        self.tmux("send-keys", "q")
        self.assertTrue(self.shows("ended 0"), self.screen())

    def test_a_program_gets_the_answers_it_asks_for(self):
        # As programs that draw a whole screen do at their start: where is the cursor, what terminal is it?
        ask = (r"stty raw -echo min 0 time 20; printf '\033[5;7H\033[6n'; dd bs=1 count=6 2>/dev/null >position; "
               r"printf '\033[c'; dd bs=1 count=4 2>/dev/null >device; dd bs=99 count=1 of=/dev/null 2>/dev/null; stty sane")
        self.start(self.coop(ask))
        self.assertTrue(self.shows("ended 0"), self.screen())
        self.assertEqual(contents(self.path("work/position")), "\033[5;7R")
        self.assertTrue(contents(self.path("work/device")).startswith("\033[?"))

    def test_an_answer_that_comes_after_the_end_is_not_typed(self):
        self.start(self.coop(r"stty -echo; printf '\033[6n\033[c'"))
        self.assertTrue(self.shows("ended 0"), self.screen())
        time.sleep(0.5)
        self.assertEqual(self.screen().strip(), "ended 0")  # what is typed now, the shell's terminal would echo

    def test_a_mouse_mode_that_was_left_on_is_switched_off(self):
        flag = ("display-message", "-p", "#{mouse_any_flag}")
        self.start(self.coop(r"printf '\033[?1003h'; echo on; while [ ! -e go ]; do sleep 0.05; done"))
        self.assertTrue(self.shows("on"), self.screen())
        self.assertEqual(self.tmux(*flag).stdout.strip(), "1")  # the control
        open(self.path("work/go"), "w", encoding="utf-8").close()
        self.assertTrue(self.shows("ended 0"), self.screen())
        self.assertEqual(self.tmux(*flag).stdout.strip(), "0")

    # What tmux tells of a pane, what switches it on, and its state before and after.
    FLAGS = (("alternate_on", r"\033[?1049h", "1", "0"), ("cursor_flag", r"\033[?25l", "0", "1"),
             ("keypad_flag", r"\033=", "1", "0"), ("keypad_cursor_flag", r"\033[?1h", "1", "0"),
             ("insert_flag", r"\033[4h", "1", "0"), ("wrap_flag", r"\033[?7l", "0", "1"),
             ("origin_flag", r"\033[?6h", "1", "0"), ("mouse_sgr_flag", r"\033[?1006h", "1", "0"),
             ("scroll_region_upper", r"\033[5;10r", "4", "0"), ("scroll_region_lower", r"\033[5;10r", "9", "23"))

    def states(self):
        names = " ".join("#{" + name + "}" for name, _, _, _ in self.FLAGS)
        return self.tmux("display-message", "-p", names).stdout.split()

    def after_the_end(self, *flags):
        write = "".join(sequence for _, sequence, _, _ in self.FLAGS if sequence != r"\033[?1049h")
        self.start(self.coop(rf"printf '\033[?1049h{write}\033[3;3Hon'; while [ ! -e go ]; do sleep 0.05; done", *flags))
        self.assertTrue(self.shows("on"), self.screen())
        self.assertEqual(self.states(), [on for _, _, on, _ in self.FLAGS])  # the control
        open(self.path("work/go"), "w", encoding="utf-8").close()
        self.assertTrue(self.shows("ended 0"), self.screen())
        return self.states()

    def test_modes_and_the_scroll_region_are_undone(self):
        self.assertEqual(self.after_the_end(), [usual for _, _, _, usual in self.FLAGS])

    def test_with_the_raw_setting_they_stay(self):  # the control
        self.assertEqual(self.after_the_end("--terminal", "raw"), [on for _, _, on, _ in self.FLAGS])

    def test_character_sets_and_colours_are_undone(self):
        for flags in ((), ("--terminal", "raw")):  # the second is the control
            with self.subTest(flags=flags):
                self.start(self.coop(r"printf '\033[31m\033(0'", *flags))
                self.assertTrue(self.shows("ended 0"), self.screen())
                drawn = self.tmux("capture-pane", "-p", "-e").stdout
                self.assertEqual(["\033[31m" in drawn, "\016" in drawn], [bool(flags)] * 2, drawn)
                self.tmux("kill-server")
                time.sleep(0.2)

    def test_a_command_that_stops_itself_leaves_nothing_on(self):
        # In a shell with job control, which goes on while the command is stopped.
        script = self.coop(r"printf '\033[?1003h\033[?25l'; kill -TSTP $$; echo again")
        self.start("bash -m -c " + shlex.quote(script + "; echo stopped; sleep 1; fg"))
        self.assertTrue(self.shows("stopped"), self.screen())
        self.assertEqual(self.tmux("display-message", "-p", "#{mouse_any_flag} #{cursor_flag}").stdout.strip(), "0 1")
        self.assertTrue(self.shows("again"), self.screen())


class Xterm(Case):
    def setUp(self):
        super().setUp()
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "800x600x24", "-nolisten", "tcp",
                                        "-noreset"],
                                       pass_fds=(write,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=self.environment)
        os.close(write)
        self.addCleanup(self.stop)
        with os.fdopen(read) as display:
            self.environment["DISPLAY"] = ":" + display.readline().strip()

    def stop(self):
        self.server.terminate()
        self.server.wait()

    def answer(self, written, *flags):
        """What the terminal types after this was written to it. The command waits for it; else the next shell would get it."""
        ask = (f"stty raw -echo min 0 time 15; printf '{written}'; dd bs=999 count=1 2>/dev/null >answer; stty sane; "
               "touch done")
        for name in ("answer", "done"):
            if os.path.exists(self.path("work/" + name)):
                os.unlink(self.path("work/" + name))
        # Everything that newer versions forbid by themselves is allowed here: users do that.
        options = [word for name in ("allowWindowOps", "allowTitleOps", "allowFontOps", "allowColorOps")
                   for word in ("-xrm", f"*{name}: true")]
        with subprocess.Popen(["xterm", *options, "-xrm", "*disallowedWindowOps:", "-u8", "-e", "sh", "-c",
                               self.coop(ask, *flags)], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as xterm:
            finished = until(lambda: os.path.exists(self.path("work/done")), 30)
            xterm.terminate()
            self.assertTrue(finished, xterm.stderr.read())
        return contents(self.path("work/answer"))

    def test_a_title_is_not_typed(self):
        self.assertEqual(self.answer(TITLE), "")

    def test_with_the_raw_setting_it_is(self):  # the control
        self.assertIn("evil", self.answer(TITLE, "--terminal", "raw"))

    def test_other_forms_of_the_same_are_not_typed(self):
        forms = (r"\302\23321t", r"\23321t", r"\033[\033[21t", r"\033%%@\23321t", r"\342\200\23321t", r"\033[0021t",
                     r"\033P$qevil\033\\", r"\005")
        self.assertEqual(self.answer(r"\033]2;evil\007" + "".join(forms)), "")

    def test_the_position_of_the_cursor_is(self):
        self.assertEqual(self.answer(r"\033[5;7H\033[6n"), "\033[5;7R")


def main():
    run_tests.need(*(name for name in ("tmux", "xterm", "Xvfb", "vim", "less") if shutil.which(name) is None))
    run_tests.main()


if __name__ == "__main__":
    main()
