// Mount calls: a process that may mount can uncover hidden files and write sealed ones.
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "support/harness.h"

namespace coop::tests {
namespace {

// As root of a new mount namespace the calls reach the kernel, which answers otherwise; the filter
// answers EPERM.
void expect_refused(long number, const Arguments& values, std::initializer_list<int> outside) {
  const Workspace workspace;
  Arguments attack{"call", std::to_string(number)};
  attack.insert(attack.end(), values.begin(), values.end());
  EXPECT_TRUE(blocked(workspace.outside_with_capabilities(attack), outside));
  EXPECT_TRUE(sandboxed(workspace));
  EXPECT_TRUE(blocked(workspace.inside(attack), EPERM));
  EXPECT_TRUE(blocked(workspace.inside(attack, {"--as-root"}), EPERM));
}

KERNEL_TEST(EscapeMountCalls, Mount) {
  expect_refused(SYS_mount, {"1", "1", "1", "0", "0"}, {EFAULT});
}

KERNEL_TEST(EscapeMountCalls, Umount) { expect_refused(SYS_umount2, {"1", "2"}, {EFAULT}); }

KERNEL_TEST(EscapeMountCalls, PivotRoot) { expect_refused(SYS_pivot_root, {"1", "1"}, {EFAULT}); }

KERNEL_TEST(EscapeMountCalls, Chroot) { expect_refused(SYS_chroot, {"1"}, {EFAULT}); }

KERNEL_TEST(EscapeMountCalls, OpenTree) {
  expect_refused(SYS_open_tree, {"-1", "1", std::to_string(OPEN_TREE_CLONE)}, {EFAULT});
}

KERNEL_TEST(EscapeMountCalls, MoveMount) {
  expect_refused(SYS_move_mount, {"-1", "1", "-1", "1", "0"}, {EFAULT});
}

KERNEL_TEST(EscapeMountCalls, Fsopen) { expect_refused(SYS_fsopen, {"1", "0"}, {EFAULT}); }

KERNEL_TEST(EscapeMountCalls, Fsconfig) {
  expect_refused(SYS_fsconfig, {"-1", "6", "0", "0", "0"}, {EINVAL, EBADF});
}

KERNEL_TEST(EscapeMountCalls, Fsmount) { expect_refused(SYS_fsmount, {"-1", "0", "0"}, {EBADF}); }

KERNEL_TEST(EscapeMountCalls, Fspick) { expect_refused(SYS_fspick, {"-1", "1", "0"}, {EFAULT}); }

KERNEL_TEST(EscapeMountCalls, MountSetattr) {
  expect_refused(SYS_mount_setattr, {"-1", "1", "0", "1", "32"}, {EFAULT});
}

KERNEL_TEST(EscapeMountCalls, Hostname) { expect_refused(SYS_sethostname, {"1", "4"}, {EFAULT}); }

}  // namespace
}  // namespace coop::tests
