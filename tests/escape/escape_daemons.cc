// Outliving the sandbox: a grandchild in its own session that ignores signals.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "support/harness.h"

namespace coop::tests {
namespace {

std::string marker_for(const Workspace& workspace) {
  return "marker-" + std::filesystem::path(workspace.around().path()).filename().native();
}

bool stopped_growing(const std::string& file) {
  const std::size_t before = read_file(file).size();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return before > 0 && read_file(file).size() == before;
}

void expect_nothing_is_left(const Workspace& workspace) {
  EXPECT_TRUE(all_gone(marker_for(workspace)));
  EXPECT_TRUE(stopped_growing(workspace / "beat"));
}

bool wait_for(const std::string& file) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    if (!read_file(file).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

Arguments sandboxed_daemon(const Workspace& workspace, const Arguments& flags = {}) {
  Arguments command{coop_binary(), "run", "-w", workspace.path()};
  command.insert(command.end(), flags.begin(), flags.end());
  for (const std::string& word :
       {std::string("--"), std::string("./payload"), std::string("daemon"), std::string("beat"),
        marker_for(workspace), std::string("stay")})
    command.push_back(word);
  return command;
}

KERNEL_TEST(EscapeDaemons, ControlADaemonOutlivesItsCommand) {
  const Workspace workspace;
  const std::string marker = marker_for(workspace);
  EXPECT_TRUE(escaped(workspace.outside({"daemon", "beat", marker, "leave"})));
  const std::vector<pid_t> left = processes_with(marker);
  EXPECT_EQ(left.size(), 1u);
  EXPECT_FALSE(stopped_growing(workspace / "beat"));
  for (const pid_t pid : left) ::kill(pid, SIGKILL);
  EXPECT_TRUE(all_gone(marker));
}

KERNEL_TEST(EscapeDaemons, GrandchildDiesWithItsCommand) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.run({"sh", "-c",
                                     "./payload daemon beat " + marker_for(workspace) +
                                         " leave; until [ -s beat ]; do sleep 0.01; done"})));
  expect_nothing_is_left(workspace);
}

KERNEL_TEST(EscapeDaemons, GrandchildDiesAtTheTimeout) {
  const Workspace workspace;
  const Ran ran =
      workspace.inside({"daemon", "beat", marker_for(workspace), "stay"}, {"--timeout", "1s"});
  EXPECT_EQ(ran.exit_code, 124) << ran.err;
  expect_nothing_is_left(workspace);
}

KERNEL_TEST(EscapeDaemons, GrandchildDiesWhenTheSupervisorIsKilled) {
  const Workspace workspace;
  Process coop(sandboxed_daemon(workspace), workspace.options());
  ASSERT_TRUE(wait_for(workspace / "beat")) << coop.finish().err;
  coop.signal(SIGKILL);
  EXPECT_EQ(coop.finish().exit_code, 128 + SIGKILL);
  expect_nothing_is_left(workspace);
}

KERNEL_TEST(EscapeDaemons, GrandchildDiesWhenTheSupervisorIsTerminated) {
  const Workspace workspace;
  Process coop(sandboxed_daemon(workspace), workspace.options());
  ASSERT_TRUE(wait_for(workspace / "beat")) << coop.finish().err;
  coop.signal(SIGTERM);
  EXPECT_EQ(coop.finish().exit_code, 128 + SIGTERM);
  expect_nothing_is_left(workspace);
}

KERNEL_TEST(EscapeDaemons, StoppedSupervisorStillTakesEverythingAlong) {
  const Workspace workspace;
  Process coop(sandboxed_daemon(workspace), workspace.options());
  ASSERT_TRUE(wait_for(workspace / "beat")) << coop.finish().err;
  coop.signal(SIGSTOP);
  coop.signal(SIGKILL);
  EXPECT_EQ(coop.finish().exit_code, 128 + SIGKILL);
  expect_nothing_is_left(workspace);
}

KERNEL_TEST(EscapeDaemons, KillingTheFirstProcessInsideEndsTheSandboxOnly) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"signal", victim.pid(), "9"})));  // control: a kill kills
  // The kernel shields PID 1 from its own namespace: the signal is accepted and has no effect.
  const Ran ran = workspace.run({"sh", "-c", "./payload signal 1 9; echo alive"});
  EXPECT_EQ(ran.out, "ESCAPED \nalive\n") << ran.err;
}

}  // namespace
}  // namespace coop::tests
