// --memory without a control group: the supervisor adds up the processes.
#include <nlohmann/json.hpp>
#include "kernel/support.h"

namespace coop::tests {
namespace {

// Where root has control groups, they are covered: coop then finds none. An ordinary user may have none anyway.
Ran run_without_group(const Workspace& workspace, const Arguments& flags,
                      const std::string& script) {
  Arguments words{coop_binary(), "run", "--json", "-w", workspace.path()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  if (is_root()) {
    const Arguments cover{
        "unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"",
        "sh"};
    words.insert(words.begin(), cover.begin(), cover.end());
  }
  return run_bare(words, workspace.options());
}

// For root the groups are covered; another user has none, or no note about the limit.
bool has_group(const nlohmann::json& output) {
  if (is_root()) return false;
  for (const auto& note : output["notes"])
    if (note.get<std::string>().find("limits: the memory limit") != std::string::npos) return false;
  return true;
}

void expect_killed(const nlohmann::json& output) {
  if (has_group(output)) GTEST_SKIP() << "this user has a control group";
  EXPECT_EQ(output.value("outcome", ""), "out_of_memory") << output.dump();
  EXPECT_EQ(output.value("exit_code", 0), 137);
  EXPECT_EQ(output["stdout"].value("text", "").find("end"), std::string::npos);
  EXPECT_NE(output["notes"].dump().find("ten times a second"), std::string::npos) << output.dump();
}

// Each stays below the limit, which setrlimit would refuse it beyond.
constexpr const char* kManyTogether =
    "for i in 1 2 3 4 5 6; do ./payload allocate 40 3 & done; wait; echo end";

KERNEL_TEST(KernelMemory, ProcessesThatAreTooLargeTogetherAreKilled) {
  const Workspace workspace;
  expect_killed(json_of(run_without_group(workspace, {"--memory", "128m"}, kManyTogether)));
}

KERNEL_TEST(KernelMemory, ProcessesWithinTheLimitAreNot) {  // the control
  const Workspace workspace;
  const nlohmann::json output =
      json_of(run_without_group(workspace, {"--memory", "512m"}, kManyTogether));
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_NE(output["stdout"].value("text", "").find("end"), std::string::npos) << output.dump();
}

KERNEL_TEST(KernelMemory, MemoryThatProcessesShareCountsOnce) {
  const Workspace workspace;
  const nlohmann::json output =
      json_of(run_without_group(workspace, {"--memory", "128m"}, "./payload inherit 60 8 2"));
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
}

KERNEL_TEST(KernelMemory, AProcessThatCannotBeReadCountsInFull) {
  const Workspace workspace;
  const std::string script =
      "for i in 1 2 3 4 5 6; do ./payload hidden-allocate 40 3 & done; wait; echo end";
  expect_killed(json_of(run_without_group(workspace, {"--memory", "128m"}, script)));
}

}  // namespace
}  // namespace coop::tests
