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

// A directory and a file change places, or the name in memory does, while the supervisor looks: what gets the bit is the
// directory that it looked at.
KERNEL_TEST(EscapePrivileges, ASetGroupIdFileByARace) {
  const std::string script = R"(
import ctypes, mmap, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
number, rounds = int(sys.argv[1]), int(sys.argv[2])
os.mkdir('d'); open('f', 'w').close(); os.mkdir('x'); open('y', 'w').close()
memory = mmap.mmap(-1, 4096); memory[:2] = b'd\0'
def forever(place, act):
  pid = os.fork()
  while pid == 0:
    act()
    memory[place] = 1
  while memory[place] == 0: pass
  return pid
def swap(): libc.renameat2(-100, b'x', -100, b'y', 2)
def rename():
  memory[0] = 102
  memory[0] = 100
others = [forever(8, swap), forever(9, rename)]
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
results = set()
for _ in range(rounds):
  for path in (b'x', ctypes.c_void_p(address)):
    results.add(libc.syscall(number, path, 0o2755) == 0)
for pid in others: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
found = [n for n in ('x', 'y', 'd', 'f') if os.path.isfile(n) and os.stat(n).st_mode & 0o6000]
print(sorted(results), found != [])
)";
#ifdef SYS_chmod
  const std::string number = std::to_string(SYS_chmod);
  const Workspace bare;
  const Ran control =
      run_bare({"python3", "-c", script, number, "100000"}, {.directory = bare.path()});
  EXPECT_EQ(control.out, "[True] True\n") << control.err;
  const Workspace workspace;
  const Ran ran = workspace.run({"python3", "-c", script, number, "1000"});
  EXPECT_EQ(ran.out, "[False, True] False\n") << ran.err;
#endif
}

// As root the supervisor could change every directory, and through its own root those that the sandbox does not have.
KERNEL_TEST(EscapePrivileges, TheSupervisorSetsNoModeThatTheCallerCouldNot) {
  const Workspace workspace;
  const TempDir outside;
  ASSERT_EQ(::mkdir((outside / "d").c_str(), 0755), 0);
  ASSERT_EQ(::symlink((outside / "d").c_str(), (workspace / "link").c_str()), 0);
  EXPECT_TRUE(blocked(workspace.inside({"chmod", outside / "d", "02755"}), ENOENT));
  EXPECT_TRUE(blocked(workspace.inside({"chmod", "link", "02755"}), ENOENT));
  EXPECT_TRUE(
      blocked(workspace.inside({"chmod", "/proc/1/root", "02755"}), {ENOENT, EACCES, EPERM}));
  ASSERT_EQ(::mkdir((workspace / "own").c_str(), 0755), 0);
  EXPECT_TRUE(blocked(workspace.inside({"chmod", "own", "02755"}, {"--ro", "."}), EROFS));
  EXPECT_TRUE(escaped(workspace.inside({"chmod", "own", "02755"})));  // control
  if (!is_root()) return;
  ASSERT_EQ(::mkdir((workspace / "theirs").c_str(), 0777), 0);
  ASSERT_EQ(::chown((workspace / "theirs").c_str(), 65534, 65534), 0);
  ASSERT_EQ(::mkdir((workspace / "closed").c_str(), 0755), 0);
  ASSERT_EQ(::mkdir((workspace / "closed/own").c_str(), 0755), 0);
  ASSERT_EQ(::chown((workspace / "closed").c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod((workspace / "closed").c_str(), 0700), 0);
  EXPECT_TRUE(blocked(workspace.inside({"chmod", "theirs", "02755"}), EPERM));
  EXPECT_TRUE(blocked(workspace.inside({"chmod", "closed/own", "02755"}), EACCES));
  EXPECT_TRUE(escaped(workspace.outside({"chmod", "theirs", "02755"})));  // control
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
