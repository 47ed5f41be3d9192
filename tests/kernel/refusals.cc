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

KERNEL_TEST(KernelRefusals, AGuardedDirectoryIsNoWorkspace) {
  const Workspace workspace;
  run_bare({"git", "init", "-q", workspace.path()});
  for (const char* directory : {".git/hooks", ".git/hooks/deeper", ".vscode", ".cursor/plain"})
    make_directories(workspace / directory);
  const auto plants = [&](const std::string& directory, const Arguments& flags = {}) {
    Arguments words{"run", "-w", workspace / directory};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "touch", "planted"});
    return run_coop(words);
  };
  for (const char* directory : {".git/hooks", ".git/hooks/deeper", ".vscode", ".cursor/plain"}) {
    const Ran ran = plants(directory);
    EXPECT_EQ(ran.exit_code, 125) << directory;
    EXPECT_NE(ran.err.find("--allow-guarded"), std::string::npos) << ran.err;
    EXPECT_FALSE(exists(workspace / (std::string(directory) + "/planted")));
  }
  EXPECT_EQ(plants(".git/hooks", {"--allow-guarded", ".git/hooks"}).exit_code, 0);  // control
  EXPECT_TRUE(exists(workspace / ".git/hooks/planted"));
  // Agents keep checkouts there.
  run_bare({"git", "init", "-q", workspace / ".cursor/worktrees/x"});
  EXPECT_EQ(plants(".cursor/worktrees/x").exit_code, 0);
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
