// Signals, timeouts and the end of a run: nothing is left behind.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "kernel/support.h"

namespace coop::tests {
namespace {

Arguments coop_run(const Workspace& workspace, const Arguments& flags, const std::string& script) {
  Arguments command{coop_binary(), "run", "-w", workspace.path()};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"--", "sh", "-c", script});
  return command;
}

// A unique command line, to find processes by from outside.
std::string marker() {
  static int count = 0;
  return std::to_string(7000000 + ::getpid()) + "." + std::to_string(++count);
}

KERNEL_TEST(KernelSignals, AreForwardedToTheCommand) {
  const Workspace workspace;
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT}) {
    std::filesystem::remove(workspace / "ready");
    const std::string name = std::to_string(number);
    Process coop(coop_run(workspace, {},
                          "trap 'echo caught " + name + "; exit 42' " + name +
                              "; touch ready; while :; do sleep 0.05; done"),
                 workspace.options());
    ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); })) << name;
    coop.signal(number);
    const Ran ran = coop.finish();
    EXPECT_EQ(ran.exit_code, 42) << name << ran.err;
    EXPECT_EQ(ran.out, "caught " + name + "\n");
  }
}

KERNEL_TEST(KernelSignals, WithoutATrapTheCommandDiesOfThem) {
  const Workspace workspace;
  Process coop(coop_run(workspace, {}, "touch ready; exec sleep 60"), workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  coop.signal(SIGTERM);
  EXPECT_EQ(coop.finish().exit_code, 128 + SIGTERM);
}

KERNEL_TEST(KernelSignals, AlsoWithJson) {
  const Workspace workspace;
  Process coop(coop_run(workspace, {"--json"},
                        "trap 'exit 42' TERM; touch ready; while :; do sleep 0.05; done"),
               workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  coop.signal(SIGTERM);
  const Ran ran = coop.finish();
  EXPECT_EQ(ran.exit_code, 42) << ran.err;
  EXPECT_EQ(json_of(ran)["exit_code"], 42);
}

KERNEL_TEST(KernelSignals, WhatTheCallerIgnoresIsNotForwarded) {
  const Workspace workspace;
  for (const Arguments& flags : {Arguments{}, Arguments{"--json"}}) {
    std::filesystem::remove(workspace / "ready");
    Arguments command{"sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"};
    const Arguments coop = coop_run(
        workspace, flags, "trap 'exit 42' TERM; touch ready; while :; do sleep 0.05; done");
    command.insert(command.end(), coop.begin(), coop.end());
    Process nohup(command, workspace.options());
    ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
    nohup.signal(SIGHUP);
    nohup.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    nohup.signal(SIGTERM);  // control: not ignored
    EXPECT_EQ(nohup.finish().exit_code, 42);
  }
}

KERNEL_TEST(KernelEnd, ATimeoutHoldsWhileCoopIsStopped) {
  for (const Arguments& also : {Arguments{}, Arguments{"--json"}}) {
    const Workspace workspace;
    const std::string sleeper = marker();
    Arguments flags{"--timeout", "1500ms"};
    flags.insert(flags.end(), also.begin(), also.end());
    Process coop(coop_run(workspace, flags, "touch ready; exec sleep " + sleeper),
                 workspace.options());
    ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
    coop.signal(SIGSTOP);
    const std::string command = std::string("sleep\0", 6) + sleeper;
    EXPECT_TRUE(eventually([&] { return !processes_with(command).empty(); }));  // control
    EXPECT_TRUE(all_gone(command));
    coop.signal(SIGCONT);
    EXPECT_EQ(coop.finish().exit_code, 124);
  }
}

KERNEL_TEST(KernelEnd, ADaemonisedGrandchildDiesWithTheCommand) {
  const Workspace workspace;
  const std::string sleeper = marker();
  const Ran ran = workspace.run({"bash", "-c",
                                 "(setsid setsid sleep " + sleeper +
                                     " >/dev/null 2>&1 &) ; sleep 0.2; pgrep -f 'sleep " + sleeper +
                                     "' >/dev/null && echo running"});
  EXPECT_EQ(ran.out, "running\n") << ran.err;  // control: it was there
  EXPECT_TRUE(all_gone("sleep\0" + sleeper));
  EXPECT_TRUE(all_gone(sleeper));
}

KERNEL_TEST(KernelEnd, ATimeoutKillsDaemonisedGrandchildren) {
  const Workspace workspace;
  const std::string sleeper = marker();
  Process coop(coop_run(workspace, {"--timeout", "1s"},
                        "setsid setsid sleep " + sleeper +
                            " & trap '' TERM INT HUP; touch ready; while :; do sleep 60; done"),
               workspace.options());
  ASSERT_TRUE(
      eventually([&] { return exists(workspace / "ready") && !processes_with(sleeper).empty(); }));
  EXPECT_EQ(coop.finish().exit_code, 124);
  EXPECT_TRUE(all_gone(sleeper));
}

KERNEL_TEST(KernelEnd, ACommandThatIgnoresSigtermIsKilledAfterAGracePeriod) {
  const Workspace workspace;
  Process coop(coop_run(workspace, {}, "trap '' TERM; touch ready; while :; do sleep 1; done"),
               workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  const auto asked = std::chrono::steady_clock::now();
  coop.signal(SIGTERM);
  EXPECT_EQ(coop.finish().exit_code, 128 + SIGKILL);
  EXPECT_GE(std::chrono::steady_clock::now() - asked, std::chrono::seconds(9));
}

struct Leftovers {
  std::string mounts = read_file("/proc/self/mountinfo");
  static std::string groups(const std::string& session) {
    return run_bare(
               {"sh", "-c", "find /sys/fs/cgroup -type d -name 'coop-" + session + "' 2>/dev/null"})
        .out;
  }
};

KERNEL_TEST(KernelEnd, AKilledCoopLeavesNoProcessGroupOrMount) {
  const Workspace workspace;
  for (const Arguments& flags :
       {Arguments{}, Arguments{"--memory", "512m", "--pids", "100", "--cpus", "1"},
        Arguments{"--view", "host"}}) {
    std::filesystem::remove(workspace / "session");
    const Leftovers before;
    const std::string sleeper = marker();
    {
      Process coop(
          coop_run(workspace, flags,
                   "sleep " + sleeper + " & setsid sleep " + sleeper +
                       " & echo $COOP_SESSION > session.new; mv session.new session; wait"),
          workspace.options());
      ASSERT_TRUE(eventually(
          [&] { return exists(workspace / "session") && processes_with(sleeper).size() >= 2; }));
      coop.signal(SIGKILL);
      EXPECT_EQ(coop.finish().exit_code, 128 + SIGKILL);
    }
    EXPECT_TRUE(all_gone(sleeper));
    std::string session = read_file(workspace / "session");
    session.pop_back();
    EXPECT_EQ(session.size(), 8u);
    EXPECT_TRUE(eventually([&] { return Leftovers::groups(session).empty(); }))
        << Leftovers::groups(session);
    EXPECT_EQ(Leftovers().mounts, before.mounts);
  }
}

KERNEL_TEST(KernelEnd, AGroupIsThereDuringTheRunAndGoneAfterwards) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("echo $COOP_SESSION; head -1 /proc/self/cgroup"),
                                {"--memory", "512m", "--require", "limits"});
  if (!is_root() && ran.exit_code == 125) {  // no group for this user here: refused, and said so
    EXPECT_NE(ran.err.find("needs a control group"), std::string::npos) << ran.err;
    return;
  }
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Leftovers::groups(ran.out.substr(0, 8)), "");
  const Ran late =
      workspace.run({"sleep", "60"}, {"--memory", "512m", "--timeout", "300ms", "--json"});
  EXPECT_EQ(late.exit_code, 124) << late.err;
  EXPECT_EQ(Leftovers::groups(json_of(late)["session"].get<std::string>()), "");
}

KERNEL_TEST(KernelEnd, AKilledCoopStillQuarantines) {
  const Workspace workspace;
  Process coop(
      coop_run(
          workspace, {},
          "mkdir -p nested/.git/objects nested/.git/refs nested/.git/hooks; echo 'ref: "
          "refs/heads/x' > nested/.git/HEAD; "
          "echo evil > nested/.git/hooks/pre-commit; echo evil > .envrc; touch ready; sleep 60"),
      workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  EXPECT_TRUE(exists(workspace / ".envrc"));  // control: it was really written
  coop.signal(SIGKILL);
  coop.finish();
  EXPECT_TRUE(eventually([&] {
    return !exists(workspace / ".envrc") && !exists(workspace / "nested/.git/hooks/pre-commit");
  }));
  const Ran kept = run_bare({"grep", "-rl", "evil", workspace.around() / "state/coop/quarantine"});
  EXPECT_THAT(kept.out, testing::HasSubstr(".envrc"));
  EXPECT_THAT(kept.out, testing::HasSubstr("pre-commit"));
}

KERNEL_TEST(KernelEnd, NothingIsLeftInTheTemporaryOrHomeDirectory) {
  const Workspace workspace;
  const TempDir home;
  RunOptions options{.environment = {{"HOME", home.path()},
                                     {"TMPDIR", home.path()},
                                     {"XDG_STATE_HOME", home / "state"}}};
  EXPECT_EQ(workspace.run({"true"}, {}, options).exit_code, 0);
  EXPECT_EQ(listing_of(home.path()), std::set<std::string>{});
}

KERNEL_TEST(KernelEnd, OrphansInsideAreReaped) {
  if (!installed("python3")) GTEST_SKIP() << "no python3";
  const Workspace workspace;
  const std::string program =
      "import os, time\n"
      "for _ in range(1000):\n"
      "  if os.fork() == 0:\n"
      "    os.fork()\n"  // its child is an orphan
      "    os._exit(0)\n"
      "  os.wait()\n"
      "def states():\n"
      "  for pid in filter(str.isdigit, os.listdir('/proc')):\n"
      "    try: yield open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0]\n"
      "    except OSError: pass\n"
      "left = 1\n"
      "for _ in range(500):\n"
      "  left = list(states()).count('Z')\n"
      "  if left == 0: break\n"
      "  time.sleep(0.01)\n"
      "print(left)\n";
  EXPECT_EQ(workspace.run({"python3", "-c", program}).out, "0\n");
}

KERNEL_TEST(KernelEnd, ManyRunsLeaveNoZombies) {
  const Workspace workspace;
  const Ran ran = run_bare(
      {"bash", "-c",
       "for i in 1 2 3 4 5 6 7 8; do " + coop_binary() +
           " run -- sh -c 'sleep 0.01 & exit 0' & done; wait; ps -o stat= --ppid $$ | grep -c Z"},
      workspace.options());
  EXPECT_EQ(ran.out, "0\n") << ran.err;
}

}  // namespace
}  // namespace coop::tests
