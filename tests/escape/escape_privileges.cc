// Gaining privileges: set-user-id programs, file capabilities, ids.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/harness.h"

namespace coop::tests {
namespace {

constexpr const char* kNobody = "65534";

KERNEL_TEST(EscapePrivileges, SetUserIdProgram) {
  const Workspace workspace;
  if (is_root()) {
    copy_program(payload_binary(), workspace / "suid");
    ASSERT_EQ(::chown((workspace / "suid").c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chmod((workspace / "suid").c_str(), 04755), 0);
    const Ran control = run_bare({"./suid", "identity"}, {.directory = workspace.path()});
    EXPECT_NE(control.out.find("other user id"), std::string::npos) << control.out;
    EXPECT_EQ(workspace.run({"./suid", "identity"}).out.find("ESCAPED"), std::string::npos);
  }
  // An ordinary user owns no such program; then nosuid and no_new_privs must be set.
  for (const char* view : {"minimal", "host"})
    for (const char* path : {".", "/usr", "/tmp"})
      EXPECT_TRUE(blocked(workspace.inside({"honours-setuid", path}, {"--view", view}), EPERM))
          << path;
  EXPECT_TRUE(escaped(workspace.outside({"status", "NoNewPrivs", "0"})));
  EXPECT_TRUE(escaped(workspace.inside({"status", "NoNewPrivs", "1"})));
}

KERNEL_TEST(EscapePrivileges, SetUserIdProgramOfTheHost) {
  const Workspace workspace;
  if (::access("/usr/bin/su", X_OK) != 0) GTEST_SKIP() << "no set-user-id program here";
  struct stat status{};
  ASSERT_EQ(::stat("/usr/bin/su", &status), 0);
  if ((status.st_mode & S_ISUID) == 0) GTEST_SKIP() << "su is not set-user-id here";
  EXPECT_TRUE(escaped(workspace.outside({"honours-setuid", "/usr/bin/su"})));
  EXPECT_TRUE(blocked(workspace.inside({"honours-setuid", "/usr/bin/su"}), EPERM));
}

KERNEL_TEST(EscapePrivileges, FileCapabilities) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  if (is_root()) {
    copy_program(payload_binary(), workspace / "capable");
    ASSERT_TRUE(escaped(workspace.outside({"file-capability", "capable"})));
    // As the user "nobody", which has no capability.
    EXPECT_TRUE(escaped(workspace.outside({"become", kNobody, "./capable", "identity"})));
    EXPECT_TRUE(blocked(workspace.run({"./capable", "identity"}), EPERM));
    EXPECT_TRUE(blocked(workspace.run({"./capable", "identity"}, {"--as-root"}), EPERM));
  }
  EXPECT_TRUE(blocked(workspace.inside({"identity"}), EPERM));
  EXPECT_TRUE(blocked(workspace.inside({"identity"}, {"--as-root"}), EPERM));
}

KERNEL_TEST(EscapePrivileges, GivingAFileCapabilities) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  write_file(workspace / "program", "x");
  EXPECT_TRUE(escaped(workspace.outside_with_capabilities({"file-capability", "program"})));
  write_file(workspace / "other", "x");
  EXPECT_TRUE(blocked(workspace.inside({"file-capability", "other"}), EPERM));
  EXPECT_TRUE(blocked(workspace.inside({"file-capability", "other"}, {"--as-root"}), EPERM));
}

KERNEL_TEST(EscapePrivileges, LeavingASetUserIdProgramBehind) {
  // Any user who can reach the workspace on the host could become its owner.
  const Workspace workspace;
  copy_program(payload_binary(), workspace / "outside");
  EXPECT_TRUE(escaped(workspace.outside({"chmod", "outside", "04755"})));
  copy_program(payload_binary(), workspace / "inside");
  workspace.inside({"chmod", "inside", "04755"});
  struct stat status{};
  ASSERT_EQ(::stat((workspace / "inside").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 06000, 0u);
}

KERNEL_TEST(EscapePrivileges, RootInsideHasNoCapability) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.outside_with_capabilities({"identity"})));
  EXPECT_TRUE(blocked(workspace.inside({"identity"}, {"--as-root"}), EPERM));
  EXPECT_TRUE(escaped(workspace.inside({"status", "CapBnd", "0000000000000000"}, {"--as-root"})));
  EXPECT_TRUE(escaped(workspace.inside({"status", "CapInh", "0000000000000000"}, {"--as-root"})));
}

KERNEL_TEST(EscapePrivileges, BecomingAnotherUser) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  const Arguments attack{"become", kNobody, "./payload", "arguments"};
  const Ran control = workspace.outside(attack);
  EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, EPERM));
  // Only one id is mapped: another one is invalid here.
  EXPECT_TRUE(blocked(workspace.inside(attack), {EINVAL, EPERM}));
  EXPECT_TRUE(blocked(workspace.inside(attack, {"--as-root"}), {EINVAL, EPERM}));
}

KERNEL_TEST(EscapePrivileges, GroupsOfTheCaller) {
  // Supplementary groups (docker, adm) of root and the user open files by their group bits.
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  const long set_groups = SYS_setgroups;
  EXPECT_TRUE(blocked(workspace.inside({"call", std::to_string(set_groups), "0", "0"}), EPERM));
  const Ran control = workspace.outside({"call", std::to_string(set_groups), "0", "0"});
  EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, EPERM));
}

}  // namespace
}  // namespace coop::tests
