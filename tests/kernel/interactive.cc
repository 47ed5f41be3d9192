// coop at a terminal: the command has its own terminal, and the caller's is restored.
#include <signal.h>

#include <memory>
#include <vector>

#include "kernel/screen.h"
#include "kernel/support.h"

namespace coop::tests {
namespace {

Arguments coop_run(const Workspace& workspace, const Arguments& command,
                   const Arguments& flags = {}) {
  Arguments words{coop_binary(), "run", "-w", workspace.path()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// The first line at a terminal.
constexpr const char* kGreeting =
    "coop: this command runs in a sandbox (namespaces, Landlock, seccomp) with no network; --quiet "
    "hides this line";

// A duration no other test sleeps for: tests run in parallel and search for their own process.
std::string unique_seconds() { return "60." + std::to_string(::getpid()); }

KERNEL_TEST(KernelTerminal, TheCommandHasATerminalOfItsOwn) {
  const Workspace workspace;
  for (const std::string& view : kViews) {
    Screen screen(coop_run(workspace,
                           shell("tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; echo x > "
                                 "/dev/tty; ls /dev/pts"),
                           in_view(view)),
                  workspace.options());
    EXPECT_EQ(screen.finish(), 0) << screen.seen();
    EXPECT_EQ(screen.seen(), std::string(kGreeting) + "\r\n/dev/pts/0\r\nall\r\nx\r\n0  ptmx\r\n");
  }
}

KERNEL_TEST(KernelTerminal, TheGreetingCanBeLeftOut) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, shell("echo hello"), {"--quiet"}), workspace.options());
  EXPECT_EQ(screen.finish(), 0) << screen.seen();
  EXPECT_EQ(screen.seen(), "hello\r\n");
}

// The command may end before coop is told of its terminal; several at once make that likely.
KERNEL_TEST(KernelTerminal, NothingOfAShortCommandsOutputIsLost) {
  const Workspace workspace;
  for (int round = 0; round < 15; ++round) {
    std::vector<std::unique_ptr<Screen>> screens;
    for (int count = 0; count < 6; ++count)
      screens.push_back(std::make_unique<Screen>(
          coop_run(workspace, {"echo", "hello"}, {"--quiet"}), workspace.options()));
    for (const auto& screen : screens) {
      EXPECT_EQ(screen->finish(), 0);
      ASSERT_EQ(screen->seen(), "hello\r\n") << "round " << round;
    }
  }
}

KERNEL_TEST(KernelTerminal, WithoutOneTheStreamsAreTheCallers) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run(shell("[ -t 0 ] || [ -t 1 ] || echo none")).out, "none\n");
  Screen screen(coop_run(workspace, shell("tty"), {"--no-tty"}), workspace.options());
  EXPECT_NE(screen.finish(), -1);
  EXPECT_EQ(screen.seen().find("/dev/pts/0\r\n"), std::string::npos) << screen.seen();
}

KERNEL_TEST(KernelTerminal, ATerminalCanBeForcedOntoAPipe) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"tty"}, {"--tty"}).out, "/dev/pts/0\r\n");
}

KERNEL_TEST(KernelTerminal, TypingReachesAShellAndItsAnswerComesBack) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, {"bash", "--norc", "-i"}), workspace.options());
  screen.type("echo A$((40+2))B\n");
  EXPECT_TRUE(screen.shows("A42B")) << screen.seen();
  EXPECT_EQ(screen.seen().find("no job control"), std::string::npos) << screen.seen();
  screen.type("exit 9\n");
  EXPECT_EQ(screen.finish(), 9);
}

KERNEL_TEST(KernelTerminal, TheSizeFollows) {
  const Workspace workspace;
  Screen screen(
      coop_run(
          workspace,
          shell("trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.05; done")),
      workspace.options());
  EXPECT_TRUE(screen.shows("24 80")) << screen.seen();
  EXPECT_TRUE(screen.shows("ready"));
  screen.resize(50, 132);
  EXPECT_TRUE(screen.shows("50 132")) << screen.seen();
}

KERNEL_TEST(KernelTerminal, ControlCInterruptsTheForegroundCommand) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, {"bash", "--norc", "-i"}), workspace.options());
  const std::string marker = unique_seconds();
  screen.type("sleep " + marker + " || echo broke-$?\n");
  EXPECT_TRUE(screen.shows("sleep " + marker));
  EXPECT_TRUE(
      eventually([&] { return !processes_with(std::string("sleep\0", 6) + marker).empty(); }));
  screen.type("\x03");
  screen.type("echo still-$((1+1))\n");
  EXPECT_TRUE(screen.shows("still-2")) << screen.seen();  // the shell lives on
  screen.type("exit\n");
  EXPECT_NE(screen.finish(), -1);
}

KERNEL_TEST(KernelTerminal, ControlCEndsASimpleCommand) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, shell("echo ready; exec sleep 60")), workspace.options());
  ASSERT_TRUE(screen.shows("ready"));
  screen.type("\x03");
  EXPECT_EQ(screen.finish(), 128 + SIGINT);
  EXPECT_TRUE(screen.cooked());
}

// A shell ends its loop only if the command died of the signal itself.
KERNEL_TEST(KernelTerminal, ControlCEndsALoopOfTheShell) {
  const Workspace workspace;
  Screen screen({"bash", "--norc", "-i"}, workspace.options());
  screen.type("PS1='next'' line'\n");
  ASSERT_TRUE(screen.shows("next line"));
  screen.type("for n in 1 2 3; do " + coop_binary() + " run --quiet -w " + workspace.path() +
              " -- sh -c 'echo start''ed; exec sleep 60'; done\n");
  ASSERT_TRUE(screen.shows("started\r\n")) << screen.seen();
  screen.type("\x03");
  EXPECT_TRUE(screen.shows("next line")) << screen.seen();
  const std::size_t first = screen.seen().find("started\r\n");
  EXPECT_EQ(screen.seen().find("started\r\n", first + 1), std::string::npos) << screen.seen();
  screen.type("exit\n");
  EXPECT_NE(screen.finish(), -1);
}

// The shell of a script ends it only if it got the signal too: from the terminal, or, when coop has made that raw, from coop.
KERNEL_TEST(KernelTerminal, ControlCEndsAScript) {
  for (const char* const interpreter : {"bash", "dash"})
    for (const std::string& how : {"", "--tty", "--no-tty", "--json", "redirected"}) {
      const Workspace workspace;
      const bool redirected = how == "redirected";
      write_file(workspace / "script",
                 "for n in 1 2 3; do " + coop_binary() + " run --quiet " + (redirected ? "" : how) +
                     " -w " + workspace.path() + " -- sh -c 'echo x >> starts; exec sleep 60'" +
                     (redirected ? " </dev/null >/dev/null 2>&1" : "") + "; done; echo went on\n");
      Screen screen({interpreter, workspace / "script"}, workspace.options());
      const std::string place = interpreter + (" " + how);
      ASSERT_TRUE(eventually([&] { return read_file(workspace / "starts") == "x\n"; })) << place;
      if (how.empty() || how == "--tty") EXPECT_TRUE(screen.becomes(false));
      screen.type("\x03");
      EXPECT_EQ(screen.finish(), 128 + SIGINT) << place << screen.seen();
      EXPECT_EQ(read_file(workspace / "starts"), "x\n") << place;
      EXPECT_TRUE(screen.cooked()) << place;
    }
}

// It must not be able to signal processes of the caller.
KERNEL_TEST(KernelTerminal, ACommandThatKillsItselfEndsNoScript) {
  const Workspace workspace;
  write_file(workspace / "script", coop_binary() + " run --quiet -w " + workspace.path() +
                                       " -- sh -c 'kill -INT $$'; echo status $?\n");
  Screen screen({"bash", workspace / "script"}, workspace.options());
  EXPECT_EQ(screen.finish(), 0) << screen.seen();
  EXPECT_EQ(screen.seen(), "status 130\r\n");
}

// As any other program: it runs, writes to the terminal, and gets input once it is in the foreground.
KERNEL_TEST(KernelTerminal, ABackgroundJobRuns) {
  const Workspace workspace;
  Screen screen({"bash", "--norc", "--noprofile", "-i"}, workspace.options());
  screen.type("PS1='next'' line'; bind 'set enable-bracketed-paste off'\n");
  ASSERT_TRUE(screen.shows("next line"));
  screen.type(coop_binary() + " run --quiet -w " + workspace.path() +
              " -- sh -c 'echo from-''inside; touch begun; while [ ! -e go ]; do sleep 0.05; done; "
              "echo asks-''now; read line; echo got-$line' &\n");
  EXPECT_TRUE(screen.shows("from-inside")) << screen.seen();
  screen.type("touch typed; jobs\n");
  EXPECT_TRUE(screen.shows("Running")) << screen.seen();
  EXPECT_TRUE(eventually([&] { return exists(workspace / "typed"); }));  // coop did not read it
  screen.type("touch go\n");
  EXPECT_TRUE(screen.shows("asks-now")) << screen.seen();
  screen.type("fg\n");
  EXPECT_TRUE(screen.becomes(false));
  // Once coop has the terminal: what is typed before goes to it too, but in another mode.
  screen.type("hello\n");
  EXPECT_TRUE(screen.shows("got-hello")) << screen.seen();
  EXPECT_TRUE(screen.shows("next line")) << screen.seen();
  screen.type("exit 7\n");
  EXPECT_EQ(screen.finish(), 7) << screen.seen();
}

KERNEL_TEST(KernelTerminal, AStoppedRunGoesOnInTheBackground) {
  const Workspace workspace;
  Screen screen({"bash", "--norc", "--noprofile", "-i"}, workspace.options());
  screen.type("PS1='next'' line'; bind 'set enable-bracketed-paste off'\n");
  ASSERT_TRUE(screen.shows("next line"));
  // One process: a shell that is just starting another (with vfork) cannot be stopped.
  write_file(workspace / "job.py",
             "import os, time\nprint('ready')\nwhile not os.path.exists('go'): time.sleep(0.05)\n"
             "print('finished')\n");
  screen.type(coop_binary() + " run --quiet -w " + workspace.path() + " -- python3 job.py\n");
  ASSERT_TRUE(screen.shows("ready\r\n")) << screen.seen();
  EXPECT_TRUE(screen.becomes(false));
  screen.type("\x1a");
  EXPECT_TRUE(screen.shows("next line")) << screen.seen();
  screen.type("bg\n");
  screen.type("jobs\n");
  EXPECT_TRUE(screen.shows("Running")) << screen.seen();
  screen.type("touch go\n");
  EXPECT_TRUE(screen.shows("finished")) << screen.seen();
  screen.type("exit 7\n");
  EXPECT_EQ(screen.finish(), 7) << screen.seen();
}

KERNEL_TEST(KernelTerminal, WithoutATerminalASignalIsAnExitStatus) {
  const Workspace workspace;
  const std::string run = coop_binary() + " run -w " + workspace.path();
  const std::string command = " -- sh -c 'kill -INT $$'";
  const std::string look =
      "import os, sys; print(os.waitstatus_to_exitcode(os.system(sys.argv[1] + ' >/dev/null 2>&1 "
      "</dev/null')))";
  EXPECT_EQ(run_bare({"python3", "-c", look, "exec " + run + command}, workspace.options()).out,
            "130\n");
  EXPECT_EQ(
      run_bare({"python3", "-c", look, "exec " + run + " --json" + command}, workspace.options())
          .out,
      "130\n");
}

KERNEL_TEST(KernelTerminal, ControlZStopsCoopAndItCanGoOn) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, shell("echo ready; cat; echo over")), workspace.options(),
                Role::job);
  ASSERT_TRUE(screen.shows("ready"));
  EXPECT_TRUE(screen.becomes(false));  // raw while it runs
  // Only after cat answers: a shell that is just starting it (with vfork) cannot be stopped.
  screen.type("first\n");
  EXPECT_TRUE(screen.shows("first\r\nfirst")) << screen.seen();
  screen.type("\x1a");
  ASSERT_TRUE(screen.stopped()) << screen.seen();
  EXPECT_TRUE(screen.cooked());  // the caller's shell has its terminal back
  screen.signal(SIGCONT);
  EXPECT_TRUE(screen.becomes(false));
  screen.type("again\n");
  EXPECT_TRUE(screen.shows("again\r\nagain")) << screen.seen();  // the echo, then cat
  screen.type("\x04");
  EXPECT_TRUE(screen.shows("over"));
  EXPECT_EQ(screen.finish(), 0);
  EXPECT_TRUE(screen.cooked());
}

// There is no shell that could continue coop here; an ordinary command is not stopped either.
KERNEL_TEST(KernelTerminal, ControlZIsNothingWithoutAShell) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, shell("echo ready; cat; sleep 0.5; echo finished")),
                workspace.options());
  ASSERT_TRUE(screen.shows("ready"));
  screen.type("first\n");
  EXPECT_TRUE(screen.shows("first\r\nfirst")) << screen.seen();
  screen.type("\x1a");
  screen.type("again\n");
  EXPECT_TRUE(screen.shows("again\r\nagain")) << screen.seen();  // cat goes on
  screen.type("\x04");
  EXPECT_TRUE(screen.shows("finished")) << screen.seen();
  EXPECT_EQ(screen.finish(), 0);
}

KERNEL_TEST(KernelTerminal, ControlZStopsEverythingWithoutATerminalOfItsOwn) {
  const Workspace workspace;
  const std::string script =
      "echo ready; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo finished";
  {
    Screen screen(coop_run(workspace, shell(script), {"--no-tty"}), workspace.options(), Role::job);
    ASSERT_TRUE(screen.shows("ready"));
    screen.type("\x1a");
    ASSERT_TRUE(screen.stopped()) << screen.seen();
    screen.signal(SIGCONT);
    EXPECT_TRUE(screen.shows("finished")) << screen.seen();
    EXPECT_EQ(screen.finish(), 0);
  }
  {
    Screen screen(coop_run(workspace, shell(script), {"--no-tty"}), workspace.options());
    ASSERT_TRUE(screen.shows("ready"));
    screen.type("\x1a");
    EXPECT_TRUE(screen.shows("finished")) << screen.seen();
    EXPECT_EQ(screen.finish(), 0);
  }
}

// coop stops with its command. Processes that the command left must not gain time by that.
KERNEL_TEST(KernelTerminal, ATimeoutHoldsWhileCoopIsStopped) {
  const std::string marker = "61." + std::to_string(::getpid());
  const std::string background = "setsid sh -c 'while :; do date >> tick; sleep 0.1; done' & ";
  // Enough stops that reporting all of them would fill the control socket.
  const std::string flood =
      "me=$$; setsid sh -c \"while :; do kill -CONT $me; kill -STOP $me; "
      "sleep 0.002; done\" & ";
  for (const std::string& also : {std::string(), flood}) {
    const Workspace workspace;
    Screen screen(coop_run(workspace,
                           shell(background + also + "setsid sleep " + marker +
                                 " & while [ ! -e tick ]; do sleep 0.01; done; "
                                 "while :; do kill -STOP $$; done"),
                           {"--timeout", "1500ms"}),
                  workspace.options(), Role::job);
    ASSERT_TRUE(screen.stopped()) << screen.seen();
    EXPECT_TRUE(exists(workspace / "tick"));
    // Control: it runs, once its shell has started it.
    EXPECT_TRUE(
        eventually([&] { return !processes_with(std::string("sleep\0", 6) + marker).empty(); }));
    EXPECT_TRUE(all_gone(std::string("sleep\0", 6) + marker));
    const std::string ticks = read_file(workspace / "tick");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(read_file(workspace / "tick"), ticks);
    screen.signal(SIGCONT);
    EXPECT_EQ(screen.finish(), 124) << screen.seen();
    EXPECT_TRUE(screen.seen().find("killed after the timeout of 1500 ms") != std::string::npos)
        << screen.seen();
    EXPECT_TRUE(screen.cooked());
  }
}

KERNEL_TEST(KernelTerminal, TheModeIsRestoredAfterAKill) {
  const Workspace workspace;
  for (const Arguments& flags :
       {Arguments{}, Arguments{"--memory", "512m"}, Arguments{"--ro", "."}}) {
    Screen screen(coop_run(workspace, shell("echo ready; exec sleep 60"), flags),
                  workspace.options());
    ASSERT_TRUE(screen.shows("ready")) << screen.seen();
    EXPECT_TRUE(screen.becomes(false));  // control: it was raw
    screen.signal(SIGKILL);
    EXPECT_EQ(screen.finish(), 128 + SIGKILL);
    EXPECT_TRUE(screen.becomes(true));
  }
}

KERNEL_TEST(KernelTerminal, AModeThatTheShellHasSetSinceStays) {
  const Workspace workspace;
  const std::string marker = unique_seconds();
  Screen screen(coop_run(workspace, shell("echo ready; exec sleep " + marker)), workspace.options(),
                Role::job);
  ASSERT_TRUE(screen.shows("ready"));
  EXPECT_TRUE(
      eventually([&] { return !processes_with(std::string("sleep\0", 6) + marker).empty(); }));
  screen.type("\x1a");
  ASSERT_TRUE(screen.stopped()) << screen.seen();
  EXPECT_TRUE(screen.cooked());
  screen.silence();
  screen.signal(SIGKILL);         // coop dies with its shell
  EXPECT_TRUE(all_gone(marker));  // the janitor too: it has coop's command line
  EXPECT_FALSE(screen.cooked());
}

KERNEL_TEST(KernelTerminal, TheModeIsRestoredAfterEveryEnd) {
  const Workspace workspace;
  {
    Screen screen(coop_run(workspace, shell("stty raw -echo; exit 3")), workspace.options());
    EXPECT_EQ(screen.finish(), 3);
    EXPECT_TRUE(screen.cooked()) << "after an exit";
  }
  for (const int number : {SIGTERM, SIGHUP}) {
    Screen screen(coop_run(workspace, shell("echo ready; exec sleep 60")), workspace.options());
    ASSERT_TRUE(screen.shows("ready"));
    EXPECT_TRUE(screen.becomes(false));  // control: it was raw
    screen.signal(number);
    EXPECT_EQ(screen.finish(), 128 + number);
    EXPECT_TRUE(screen.cooked()) << "after signal " << number;
  }
  {
    Screen screen(coop_run(workspace, {"sleep", "60"}, {"--timeout", "300ms"}),
                  workspace.options());
    EXPECT_EQ(screen.finish(), 124);
    EXPECT_TRUE(screen.cooked()) << "after a timeout";
  }
  {
    Screen screen(coop_run(workspace, {"true"}, {"--ro", "/no/such"}), workspace.options());
    EXPECT_EQ(screen.finish(), 125);
    EXPECT_TRUE(screen.cooked()) << "after a failure";
  }
}

KERNEL_TEST(KernelTerminal, MuchOutputArrivesWhole) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, shell("seq 20000; echo the-end")), workspace.options());
  EXPECT_TRUE(screen.shows("the-end"));
  EXPECT_EQ(screen.finish(), 0);
  EXPECT_NE(screen.seen().find("\r\n9999\r\n10000\r\n"), std::string::npos);
  EXPECT_EQ(static_cast<long>(std::ranges::count(screen.seen(), '\n')),
            20002);  // the greeting is one
}

KERNEL_TEST(KernelTerminal, JobControlWorksInside) {
  const Workspace workspace;
  Screen screen(coop_run(workspace, {"bash", "--norc", "-i"}), workspace.options());
  const std::string marker = unique_seconds();
  screen.type("sleep " + marker + "\n");
  EXPECT_TRUE(
      eventually([&] { return !processes_with(std::string("sleep\0", 6) + marker).empty(); }));
  screen.type("\x1a");
  EXPECT_TRUE(screen.shows("Stopped")) << screen.seen();  // bash inside, not coop
  screen.type("kill %1; exit 5\n");
  screen.type("exit 5\n");
  EXPECT_EQ(screen.finish(), 5);
}

}  // namespace
}  // namespace coop::tests
