// Requests that coop refuses, and the messages.
#include "kernel/support.h"

namespace coop::tests {
namespace {

KERNEL_TEST(KernelRefusals, TheKernelsFileSystemsAreNoWorkspace) {
  for (const char* path : {"/proc", "/proc/sys", "/sys", "/dev", "/"}) {
    const Ran ran = run_coop({"run", "-w", path, "--", "true"});
    EXPECT_EQ(ran.exit_code, 125) << path;
    EXPECT_NE(ran.err.find("--workspace"), std::string::npos) << ran.err;
  }
}

KERNEL_TEST(KernelRefusals, VariablesThatInjectCodeNeedTheirOwnWord) {
  const Workspace workspace;
  const Ran refused = workspace.run({"true"}, {"--env", "LD_PRELOAD=/x.so"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err.find("--unsafe-env LD_PRELOAD"), std::string::npos) << refused.err;
  const Ran granted = workspace.run({"sh", "-c", "echo $PYTHONPATH"},
                                    {"--env", "PYTHONPATH=/p", "--unsafe-env", "PYTHONPATH"});
  EXPECT_EQ(granted.out, "/p\n") << granted.err;
}

KERNEL_TEST(KernelRefusals, AMissingWorkingDirectoryIsCoopsFailure) {
  const Workspace workspace;
  const Ran ran = workspace.run({"true"}, {"--chdir", "/nowhere"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find("\"/nowhere\": ENOENT"), std::string::npos) << ran.err;
  EXPECT_EQ(workspace.run({"true"}, {"--chdir", "/usr"}).exit_code, 0);
}

KERNEL_TEST(KernelRefusals, AResultThatCannotBePrintedIsAFailure) {
  const Workspace workspace;
  const Ran ran = run_bare(
      {"sh", "-c", coop_binary() + " run --json -w " + workspace.path() + " -- true > /dev/full"});
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
}

}  // namespace
}  // namespace coop::tests
