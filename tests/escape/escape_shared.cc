// Limits that the kernel counts per user: a sandbox must leave enough for programs of the host and for other sandboxes.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "support/harness.h"

namespace coop::tests {
namespace {

// Runs an attack inside and, while it holds what it got, `meanwhile`. Returns the attack's result.
Ran while_held(const Workspace& workspace, const Arguments& attack, const Arguments& flags,
               const std::function<void()>& meanwhile) {
  std::future<Ran> running =
      std::async(std::launch::async, [&] { return workspace.inside(attack, flags); });
  const std::string marker = workspace / "holding";
  for (int tries = 0; tries < 100 && !exists(marker); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(exists(marker)) << attack.front();
  meanwhile();
  ::unlink(marker.c_str());
  return running.get();
}

// With the soft limit that most sessions have.
Ran with_usual_limit(const Workspace& workspace, const std::string& command) {
  RunOptions options = workspace.options();
  options.directory = workspace.path();
  return run_bare({"sh", "-c", "ulimit -Sn 1024; exec " + command}, options);
}
Ran start_another(const Workspace& workspace) {
  const Workspace other;
  return with_usual_limit(
      workspace, coop_binary() + " run --allow-net good.example -w " + other.path() + " -- true");
}
Ran pass_on_the_host(const Workspace& workspace) {
  return with_usual_limit(workspace, "./payload pass-descriptor");
}

KERNEL_TEST(EscapeShared, DescriptorsInFlight) {
  const Workspace workspace;
  const Ran attack = while_held(workspace, {"in-flight", "20000"}, {}, [&] {
    const Ran second = start_another(workspace);
    EXPECT_EQ(second.exit_code, 0) << second.err;
    EXPECT_TRUE(escaped(pass_on_the_host(workspace)));
  });
  EXPECT_TRUE(blocked(attack, ETOOMANYREFS));
}

KERNEL_TEST(EscapeShared, DescriptorsInFlightWithAHigherLimit) {
  // The control of the one above, and: whatever a sandbox was allowed, coop itself still starts.
  const Workspace workspace;
  const Ran attack = while_held(workspace, {"in-flight", "2500"}, {"--open-files", "4000"}, [&] {
    const Ran host = pass_on_the_host(workspace);
    EXPECT_TRUE(is_root() ? escaped(host) : blocked(host, ETOOMANYREFS));
    const Ran second = start_another(workspace);
    EXPECT_EQ(second.exit_code, 0) << second.err;
  });
  EXPECT_TRUE(escaped(attack));
}

KERNEL_TEST(EscapeShared, SendersThatWaitForAFullQueue) {
  const Workspace workspace;
  const Ran attack = while_held(workspace, {"waiting-senders", "30"}, {}, [&] {
    EXPECT_TRUE(escaped(pass_on_the_host(workspace)));
    EXPECT_EQ(start_another(workspace).exit_code, 0);
  });
  EXPECT_TRUE(escaped(attack)) << attack.err;  // it held, and disturbed no one
}

KERNEL_TEST(EscapeShared, InotifyInstances) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"inotify", "1"})));  // control: some are there
  const Ran attack = while_held(workspace, {"inotify", "100000"}, {}, [&] {
    EXPECT_TRUE(escaped(workspace.outside({"inotify", "1"})));
    EXPECT_TRUE(escaped(Workspace().inside({"inotify", "1"})));
  });
  EXPECT_TRUE(blocked(attack, EMFILE));
}

KERNEL_TEST(EscapeShared, BytesInMessageQueues) {
  if (!exists("/proc/sys/fs/mqueue")) GTEST_SKIP() << "no message queues in this kernel";
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"message-queues", "1"})));   // control: they work
  EXPECT_TRUE(escaped(workspace.outside({"message-queues", "5"})));  // and the user may have more
  for (const Arguments& flags : {Arguments{}, Arguments{"--as-root"}}) {
    const Ran attack = while_held(workspace, {"message-queues", "100"}, flags, [&] {
      EXPECT_TRUE(escaped(workspace.outside({"message-queues", "5"})));
      EXPECT_TRUE(escaped(Workspace().inside({"message-queues", "1"})));
    });
    EXPECT_TRUE(blocked(attack, EMFILE));
  }
}

KERNEL_TEST(EscapeShared, PendingSignals) {
  const Workspace workspace;
  const Arguments few{"timers", "100"};
  EXPECT_TRUE(escaped(workspace.inside(few)));  // control: they work
  const Ran attack = while_held(workspace, {"timers", "1000000"}, {},
                                [&] { EXPECT_TRUE(escaped(workspace.outside(few))); });
  EXPECT_TRUE(blocked(attack, EAGAIN));
}

KERNEL_TEST(EscapeShared, Terminals) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"terminals", "100"})));
  EXPECT_TRUE(escaped(workspace.outside({"terminals", "300"})));
  EXPECT_TRUE(blocked(workspace.inside({"terminals", "300"}), ENOSPC));
}

KERNEL_TEST(EscapeShared, TheLimitOnInotifyCannotBeRaisedAgain) {
  const Workspace workspace;
  for (const char* flag : {"--as-self", "--as-root"})
    EXPECT_TRUE(
        blocked(workspace.inside({"open-write", "/proc/sys/user/max_inotify_instances"}, {flag}),
                {EACCES, EROFS, EPERM}))
        << flag;
}

}  // namespace
}  // namespace coop::tests
