// Reaching processes of the host, above all the supervisor.
#include <signal.h>

#include "support/harness.h"

namespace coop::tests {
namespace {

// Runs the attack with the supervisor's own process id as its last argument.
Ran at_supervisor(const Workspace& workspace, const std::string& attack,
                  const std::string& after = "") {
  return run_bare(
      {"sh", "-c", "exec \"$0\" run -w . -- ./payload " + attack + " $$ " + after, coop_binary()},
      workspace.options());
}

KERNEL_TEST(EscapeProcesses, TracingTheSupervisor) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"seize", victim.pid()})));
  EXPECT_TRUE(blocked(at_supervisor(workspace, "seize"), ESRCH));
}

KERNEL_TEST(EscapeProcesses, TracingAnotherProcessOfTheUser) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"seize", victim.pid()})));
  EXPECT_TRUE(blocked(workspace.inside({"seize", victim.pid()}), ESRCH));
}

KERNEL_TEST(EscapeProcesses, TracingIsRefusedWithoutDebugging) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"trace-me"}, {"--debug"})));
  EXPECT_TRUE(blocked(workspace.inside({"trace-me"}, {"--no-debug"}), EPERM));
}

KERNEL_TEST(EscapeProcesses, SignallingTheSupervisor) {
  const Workspace workspace;
  {
    const Victim victim;
    EXPECT_TRUE(escaped(workspace.outside({"signal", victim.pid(), "0"})));
  }
  EXPECT_TRUE(blocked(at_supervisor(workspace, "signal", "9"), ESRCH));
}

KERNEL_TEST(EscapeProcesses, SignallingEverythingItCanSee) {
  // With SIGCONT: harmless for the machine should the sandbox be broken.
  const std::string wake = std::to_string(SIGCONT);
  const Workspace workspace;
  const Victim victim;
  victim.stop();
  ASSERT_TRUE(victim.stopped());
  workspace.inside({"signal", "-1", wake});
  EXPECT_TRUE(victim.stopped());
  EXPECT_TRUE(escaped(workspace.outside({"signal", victim.pid(), wake})));  // control
  EXPECT_FALSE(victim.stopped());
}

KERNEL_TEST(EscapeProcesses, SignallingTheCallersProcessGroup) {
  const Workspace workspace;
  const std::string watch = "trap 'echo HIT' USR1; ";
  const RunOptions options = workspace.options();
  const std::string signal = std::to_string(SIGUSR1);
  const Ran control = run_bare({"sh", "-c", watch + "./payload signal-group " + signal}, options);
  EXPECT_NE(control.out.find("HIT"), std::string::npos);

  const Ran attack =
      run_bare({"sh", "-c",
                watch + "\"$0\" run -w . -- ./payload signal-group " + signal + "; echo status=$?",
                coop_binary()},
               options);
  EXPECT_EQ(attack.out.find("HIT"), std::string::npos) << attack.out;
  // 0: it signalled its own group; 1: refused. 138 would mean the supervisor was hit.
  EXPECT_TRUE(attack.out.find("status=0") != std::string::npos ||
              attack.out.find("status=1") != std::string::npos)
      << attack.out << attack.err;
}

KERNEL_TEST(EscapeProcesses, SlowingTheCallersProcessGroup) {
  const Workspace workspace;
  const std::string ask = "; echo nice=$(cut -d' ' -f19 /proc/$$/stat)";
  const RunOptions options = workspace.options();
  const Ran before = run_bare({"sh", "-c", ":" + ask}, options);
  const Ran control = run_bare({"sh", "-c", "./payload nice-group" + ask}, options);
  EXPECT_NE(control.out.find("nice=15"), std::string::npos) << control.out;
  EXPECT_EQ(before.out.find("nice=15"), std::string::npos) << before.out;
  const Ran attack = run_bare(
      {"sh", "-c", "\"$0\" run -w . -- ./payload nice-group" + ask, coop_binary()}, options);
  EXPECT_NE(attack.out.find(before.out), std::string::npos) << attack.out << attack.err;
}

KERNEL_TEST(EscapeProcesses, MemoryOfTheSupervisor) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"memory", victim.pid()})));
  EXPECT_TRUE(blocked(at_supervisor(workspace, "memory"), ENOENT));
}

KERNEL_TEST(EscapeProcesses, ReadingAnotherProcessWithoutPtrace) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"vm-read", victim.pid()})));
  EXPECT_TRUE(blocked(workspace.inside({"vm-read", victim.pid()}), ESRCH));
  EXPECT_TRUE(blocked(workspace.inside({"vm-read", victim.pid()}, {"--no-debug"}), EPERM));
}

KERNEL_TEST(EscapeProcesses, ADescriptorForAHostProcess) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"pidfd-open", victim.pid()})));
  EXPECT_TRUE(blocked(workspace.inside({"pidfd-open", victim.pid()}), ESRCH));
}

KERNEL_TEST(EscapeProcesses, LimitsOfAHostProcess) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"limits-of", victim.pid()})));
  EXPECT_TRUE(blocked(workspace.inside({"limits-of", victim.pid()}), ESRCH));
}

KERNEL_TEST(EscapeProcesses, TheFirstProcessInsideCannotBeTraced) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  // Control: tracing inside works; only PID 1, a copy of the supervisor, cannot be traced.
  EXPECT_TRUE(escaped(workspace.inside({"trace-me"})));
  EXPECT_TRUE(blocked(workspace.inside({"seize", "1"}), EPERM));
  EXPECT_TRUE(blocked(workspace.inside({"memory", "1"}), EACCES));
  EXPECT_TRUE(blocked(workspace.inside({"vm-read", "1"}), EPERM));
}

KERNEL_TEST(EscapeProcesses, DescriptorsOfTheFirstProcessInside) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"descriptors-of", victim.pid()})));
  EXPECT_TRUE(blocked(workspace.inside({"descriptors-of", "1"}), EACCES));
}

}  // namespace
}  // namespace coop::tests
