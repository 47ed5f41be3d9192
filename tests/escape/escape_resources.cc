// Resource bombs. Each is bounded, so that a missing limit fails the test and not the machine.
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <chrono>

#include <nlohmann/json.hpp>
#include "support/harness.h"

namespace coop::tests {
namespace {

// Without its own control group an ordinary user gets rlimits instead, with a note.
const Arguments kLimits{"--best-effort", "limits"};

Arguments limited(Arguments flags) {
  flags.insert(flags.end(), kLimits.begin(), kLimits.end());
  return flags;
}

KERNEL_TEST(EscapeResources, ForkBomb) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"forks", "200"}, {"--pids", "unlimited"})));
  EXPECT_TRUE(blocked(workspace.inside({"forks", "200"}, limited({"--pids", "64"})), EAGAIN));
}

KERNEL_TEST(EscapeResources, MemoryBomb) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"allocate", "256"}, {"--memory", "unlimited"})));
  const Ran attack = workspace.inside({"allocate", "1024"}, limited({"--memory", "64m"}));
  // Killed by the group's limit, or refused by RLIMIT_DATA.
  EXPECT_TRUE(attack.exit_code == 137 || blocked(attack, ENOMEM)) << attack.exit_code << attack.err;
}

KERNEL_TEST(EscapeResources, MemoryBombIsReportedAsSuch) {
  const Workspace workspace;
  const nlohmann::json output =
      json_of(workspace.inside({"allocate", "1024"}, limited({"--memory", "64m", "--json"})));
  const std::string outcome = output.value("outcome", "");
  EXPECT_TRUE(outcome == "out_of_memory" ||
              output["stdout"].value("text", "").starts_with("BLOCKED 12 "))
      << output.dump();
}

KERNEL_TEST(EscapeResources, MemoryBombInManyProcesses) {
  // Each process stays small; only a group limit sees the sum.
  const Workspace workspace;
  if (!is_root()) {  // an ordinary user may have no control group: then it is refused, not ignored
    const Ran ran = workspace.run({"true"}, {"--memory", "64m", "--require", "limits"});
    if (ran.exit_code == 125) {
      EXPECT_NE(ran.err.find("needs a control group"), std::string::npos) << ran.err;
      return;
    }
  }
  const std::string script =
      "for i in 1 2 3 4; do ./payload allocate 48 & done; wait; ./payload arguments";
  const Ran control = workspace.run({"sh", "-c", script});
  EXPECT_EQ(control.exit_code, 0) << control.err;
  const Ran attack = workspace.run(
      {"sh", "-c", "for i in 1 2 3 4; do (./payload allocate 48 && sleep 2) & done; wait"},
      {"--memory", "64m", "--json"});
  const nlohmann::json output = json_of(attack);
  EXPECT_LE(output["usage"].value("peak_memory", std::uint64_t{1} << 40), std::uint64_t{65} << 20)
      << output.dump();
}

KERNEL_TEST(EscapeResources, DiskBombInTmp) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"fill", "/tmp/file", "16"}, {"--tmp-size", "64m"})));
  EXPECT_TRUE(blocked(workspace.inside({"fill", "/tmp/file", "16"}, {"--tmp-size", "8m"}), ENOSPC));
}

KERNEL_TEST(EscapeResources, DiskBombInRunAndVarTmp) {
  const Workspace workspace;
  for (const char* path : {"/run/file", "/var/tmp/file"})
    for (const char* view : {"minimal", "host"}) {
      EXPECT_TRUE(escaped(workspace.inside({"fill", path, "1"}, {"--view", view})));
      EXPECT_TRUE(blocked(
          workspace.inside({"fill", path, "16"}, {"--view", view, "--tmp-size", "8m"}), ENOSPC));
    }
}

KERNEL_TEST(EscapeResources, DiskBombInSharedMemory) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"fill", "/dev/shm/file", "1"})));
  EXPECT_TRUE(
      blocked(workspace.inside({"fill", "/dev/shm/file", "1024"}, {"--tmp-size", "8m"}), ENOSPC));
}

KERNEL_TEST(EscapeResources, DiskBombBesideTheMounts) {
  // The sandbox's root is a tmpfs too: a writable place there would have no limit.
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"fill", "/tmp/file", "1"})));
  EXPECT_TRUE(sandboxed(workspace));
  for (const char* path : {"/file", "/dev/file", "/etc/file", "/sys/file", "/proc/file"})
    EXPECT_TRUE(blocked(workspace.inside({"fill", path, "1"}), {EROFS, EACCES, ENOENT})) << path;
  for (const char* path : {"/file", "/dev/file", "/etc/file", "/sys/file", "/proc/file"})
    EXPECT_TRUE(
        blocked(workspace.inside({"fill", path, "1"}, {"--view", "host"}), {EROFS, EACCES, ENOENT}))
        << path << " in the host view";
}

KERNEL_TEST(EscapeResources, InodeBomb) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"inodes", "/tmp", "1000"})));
  EXPECT_TRUE(blocked(workspace.inside({"inodes", "/tmp", "200000"}), ENOSPC));
}

KERNEL_TEST(EscapeResources, DescriptorBomb) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"descriptors", "100"})));
  EXPECT_TRUE(blocked(workspace.inside({"descriptors", "100"}, {"--open-files", "64"}), EMFILE));
}

KERNEL_TEST(EscapeResources, LargeFile) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"fill", "file", "4"})));
  EXPECT_TRUE(blocked(workspace.inside({"fill", "file", "4"}, {"--file-size", "1m"}), EFBIG));
}

KERNEL_TEST(EscapeResources, OutputFlood) {
  const Workspace workspace;
  const Ran control = workspace.outside({"flood", "16"});
  EXPECT_GT(control.out.size(), std::size_t{16} << 20);
  const Ran attack = workspace.inside({"flood", "16"}, {"--json", "--output-limit", "64k"});
  EXPECT_LT(attack.out.size(), std::size_t{256} << 10);
  const nlohmann::json output = json_of(attack);
  EXPECT_TRUE(output["stdout"].value("truncated", false));
  EXPECT_GT(output["stdout"].value("total_bytes", 0u), 16u << 20);
}

KERNEL_TEST(EscapeResources, EndlessCommand) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"outlast", "2"})));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(workspace.inside({"outlast", "20"}, {"--timeout", "1s"}).exit_code, 124);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

KERNEL_TEST(EscapeResources, RaisingALimitAgain) {
  const Workspace workspace;
  const std::string script =
      "ulimit -n 100000 2>/dev/null; ulimit -Hn 100000 2>/dev/null; ./payload descriptors 100";
  EXPECT_TRUE(escaped(workspace.run({"sh", "-c", script})));
  EXPECT_TRUE(blocked(workspace.run({"sh", "-c", script}, {"--open-files", "64"}), EMFILE));
}

}  // namespace
}  // namespace coop::tests
