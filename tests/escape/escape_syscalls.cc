// System calls that lead out, or to kernel code that is not needed inside. Each control uses
// arguments for which the kernel's answer differs from the filter's.
#include <sched.h>
#include <sys/syscall.h>

#include <nlohmann/json.hpp>
#include "support/harness.h"

namespace coop::tests {
namespace {

constexpr int kWorks = 0;

Arguments raw_call(long number, const Arguments& values) {
  Arguments attack{"call", std::to_string(number)};
  attack.insert(attack.end(), values.begin(), values.end());
  return attack;
}

// `outside`: the kernel's result without a filter (kWorks: success), for the user and for root.
void expect_filtered(const Arguments& attack, std::initializer_list<int> outside, int inside) {
  const Workspace workspace;
  const Ran control = workspace.outside(attack);
  if (*outside.begin() == kWorks) {
    EXPECT_TRUE(escaped(control));
  } else {
    EXPECT_TRUE(blocked(control, outside));
  }
  EXPECT_TRUE(blocked(workspace.inside(attack), inside));
  EXPECT_TRUE(blocked(workspace.inside(attack, {"--as-root", "--view", "host"}), inside));
}

// Where an ordinary user gets EPERM from the kernel too, the errno does not show who refused. The
// run as root does (`as_root`); for the user the presence of the filter is checked.
void expect_administrative(const Arguments& attack, std::initializer_list<int> as_root) {
  const Workspace workspace;
  const Ran control = workspace.outside(attack);
  EXPECT_TRUE(is_root() ? blocked(control, as_root) : blocked(control, {EPERM, ENOSYS}));
  EXPECT_TRUE(sandboxed(workspace));
  EXPECT_TRUE(blocked(workspace.inside(attack), EPERM));
}

KERNEL_TEST(EscapeSyscalls, IoUring) { expect_filtered({"io-uring"}, {kWorks}, ENOSYS); }

KERNEL_TEST(EscapeSyscalls, IoUringEnter) {
  expect_filtered(raw_call(SYS_io_uring_enter, {"-1", "0", "0", "0"}), {EBADF}, ENOSYS);
}

KERNEL_TEST(EscapeSyscalls, IoUringRegister) {
  // Newer kernels look at the operation before the descriptor.
  expect_filtered(raw_call(SYS_io_uring_register, {"9999", "0", "0", "0"}), {EBADF, EINVAL},
                  ENOSYS);
}

#if defined(__x86_64__)
KERNEL_TEST(EscapeSyscalls, TheI386Entry) {
  const Workspace workspace;
  const Ran control = workspace.outside({"i386"});
  // A kernel without 32-bit support kills the program with SIGSEGV; then there is no entry to test.
  if (!escaped(control)) GTEST_SKIP() << "this kernel has no 32-bit entry";
  EXPECT_TRUE(killed_by_filter(workspace.inside({"i386"})));
  EXPECT_EQ(json_of(workspace.inside({"i386"}, {"--json"})).value("outcome", ""), "violation");
}

KERNEL_TEST(EscapeSyscalls, TheX32Entry) {
  const Workspace workspace;
  const Ran control = workspace.outside({"x32"});
  EXPECT_TRUE(escaped(control) || blocked(control, ENOSYS)) << control.out;
  EXPECT_TRUE(killed_by_filter(workspace.inside({"x32"})));
}
#endif

KERNEL_TEST(EscapeSyscalls, UnshareUserNamespace) {
  expect_filtered(raw_call(SYS_unshare, {std::to_string(CLONE_NEWUSER)}), {kWorks}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, UnshareEverythingElse) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  for (const int flag : {CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS,
                         CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */}) {
    const Arguments attack = raw_call(SYS_unshare, {std::to_string(flag)});
    EXPECT_TRUE(escaped(workspace.outside_with_capabilities(attack))) << flag;
    EXPECT_TRUE(blocked(workspace.inside(attack), EPERM)) << flag;
  }
}

KERNEL_TEST(EscapeSyscalls, CloneIntoNewNamespaces) {
  expect_filtered({"clone", std::to_string(CLONE_NEWUSER)}, {kWorks}, EPERM);
  expect_filtered({"clone", std::to_string(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET)}, {kWorks},
                  EPERM);
}

KERNEL_TEST(EscapeSyscalls, Clone3IntoNewNamespaces) {
  expect_filtered({"clone3", std::to_string(CLONE_NEWUSER)}, {kWorks}, ENOSYS);
}

KERNEL_TEST(EscapeSyscalls, EnteringNamespaces) {
  expect_filtered(raw_call(SYS_setns, {"-1", "0"}), {EBADF}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, OpeningByHandle) {
  const Workspace workspace;
  // The user lacks the capability; root opens inode 2, the file system's root.
  const Ran control = workspace.outside({"handle"});
  EXPECT_TRUE(is_root() ? escaped(control) || blocked(control, {ESTALE, EOPNOTSUPP})
                        : blocked(control, {EPERM, ESTALE}))
      << control.out;
  EXPECT_TRUE(blocked(workspace.inside({"handle"}), EPERM));
  // An invalid handle: the kernel would answer EFAULT or EPERM, the filter always EPERM.
  EXPECT_TRUE(blocked(
      workspace.inside(raw_call(SYS_name_to_handle_at, {"-100", "1", "1", "1", "0"})), EPERM));
}

KERNEL_TEST(EscapeSyscalls, ReadingKeyrings) {
  expect_filtered(raw_call(SYS_keyctl, {"0", "-3", "1"}), {kWorks}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, AddingKeys) {
  expect_filtered(raw_call(SYS_add_key, {"1", "1", "1", "1", "-3"}), {EFAULT}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, RequestingKeys) {
  expect_filtered(raw_call(SYS_request_key, {"1", "1", "1", "-3"}), {EFAULT}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, Bpf) {
  expect_filtered(raw_call(SYS_bpf, {"0", "0", "0x100000"}), {E2BIG}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, PerfEvents) {
  expect_filtered(raw_call(SYS_perf_event_open, {"1", "0", "0", "-1", "-1"}), {EINVAL}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, Userfaultfd) {
  expect_filtered(raw_call(SYS_userfaultfd, {"1"}), {kWorks}, EPERM);  // 1: user faults only
}

KERNEL_TEST(EscapeSyscalls, LocalDescriptorTable) {
  expect_filtered(raw_call(SYS_modify_ldt, {"0", "0", "0"}), {kWorks}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, PersonalityThatMakesMemoryExecutable) {
  expect_filtered(raw_call(SYS_personality, {"0x0400000"}), {kWorks}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, ASecondSeccompListener) {
  // 1: set a filter; 8: with a listener; the filter itself lies at a bad address.
  expect_filtered(raw_call(SYS_seccomp, {"1", "8", "1"}), {EFAULT, EACCES}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, TheClockOfTheMachine) {
  expect_filtered(raw_call(SYS_clock_settime, {"0", "1"}), {EFAULT}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, ModulesByDescriptor) {
  expect_administrative(raw_call(SYS_finit_module, {"-1", "1", "0"}), {EBADF, EFAULT, ENOSYS});
}

KERNEL_TEST(EscapeSyscalls, ModulesByImage) {
  expect_administrative(raw_call(SYS_init_module, {"0", "0", "0"}), {ENOEXEC, EFAULT, ENOSYS});
}

KERNEL_TEST(EscapeSyscalls, UnloadingModules) {
  expect_administrative(raw_call(SYS_delete_module, {"1", "0"}), {EFAULT, ENOSYS});
}

KERNEL_TEST(EscapeSyscalls, Kexec) {
  // Far too many segments: no kernel is loaded even where root may. Often not built in: ENOSYS.
  expect_administrative(raw_call(SYS_kexec_load, {"0", "99999", "0", "0"}), {EINVAL, ENOSYS});
  expect_administrative(raw_call(SYS_kexec_file_load, {"-1", "-1", "0", "0", "-1"}),
                        {EINVAL, ENOSYS});
}

KERNEL_TEST(EscapeSyscalls, Rebooting) {
  expect_administrative(raw_call(SYS_reboot, {"0", "0", "0", "0"}),
                        {EINVAL});  // wrong magic number
}

KERNEL_TEST(EscapeSyscalls, Swapping) {
  expect_administrative(raw_call(SYS_swapon, {"1", "0"}), {EFAULT});
}

KERNEL_TEST(EscapeSyscalls, HardwarePorts) {
  expect_filtered(raw_call(SYS_iopl, {"99"}), {EINVAL, ENOSYS}, EPERM);
}

KERNEL_TEST(EscapeSyscalls, WatchingWholeMounts) {
  // FAN_REPORT_FID: allowed to ordinary users since 5.13.
  expect_filtered(raw_call(SYS_fanotify_init, {"0x200", "0"}), {kWorks}, EPERM);
}

}  // namespace
}  // namespace coop::tests
