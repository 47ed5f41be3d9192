// Kernel files and devices. For uid 0 without capabilities many files in /proc still look like its
// own: the mode bits alone allow writing.
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <utility>

#include "support/harness.h"

namespace coop::tests {
namespace {

// Only opened, never written: a control must not change the machine. A file that this kernel lacks
// must be missing inside too.
void expect_not_writable(const std::string& path) {
  const Workspace workspace;
  if (!exists(path)) {
    EXPECT_TRUE(blocked(workspace.inside({"open-write", path}), {ENOENT, EACCES, EROFS})) << path;
    return;
  }
  const Ran control = workspace.outside({"open-write", path});
  EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, {EACCES, EPERM})) << path;
  EXPECT_TRUE(sandboxed(workspace));
  for (const Arguments& flags : {Arguments{}, Arguments{"--as-root"}, Arguments{"--view", "host"}})
    EXPECT_TRUE(
        blocked(workspace.inside({"open-write", path}, flags), {EACCES, EROFS, ENOENT, EPERM}))
        << path;
}

KERNEL_TEST(EscapeKernelFiles, CorePatternRunsAProgramOfTheHost) {
  expect_not_writable("/proc/sys/kernel/core_pattern");
}
KERNEL_TEST(EscapeKernelFiles, ModprobePathRunsAProgramOfTheHost) {
  expect_not_writable("/proc/sys/kernel/modprobe");
}
KERNEL_TEST(EscapeKernelFiles, SysrqStopsTheMachine) { expect_not_writable("/proc/sysrq-trigger"); }
KERNEL_TEST(EscapeKernelFiles, MemorySwitches) {
  expect_not_writable("/proc/sys/vm/overcommit_memory");
}
KERNEL_TEST(EscapeKernelFiles, BinaryFormatsRunAProgramOfTheHost) {
  expect_not_writable("/proc/sys/fs/binfmt_misc/register");
}
KERNEL_TEST(EscapeKernelFiles, UeventHelperRunsAProgramOfTheHost) {
  expect_not_writable("/sys/kernel/uevent_helper");
}
KERNEL_TEST(EscapeKernelFiles, ProcessorsCannotBeSwitchedOff) {
  for (const char* path :
       {"/sys/devices/system/cpu/cpu1/online", "/sys/devices/system/cpu/smt/control",
        "/sys/devices/system/node/node0/compact"})
    if (exists(path)) expect_not_writable(path);
}
KERNEL_TEST(EscapeKernelFiles, LogOfTheKernel) { expect_not_writable("/dev/kmsg"); }

// Every /proc has the same entries of the machine, and a mode that uid 0 sets in one counts for all. To the same mode: the attack
// on a machine without a sandbox must not change it.
KERNEL_TEST(EscapeKernelFiles, ModesOfTheMachinesEntries) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  for (const auto& [path, mode] :
       {std::pair("/proc/version", "0444"), std::pair("/proc/meminfo", "0444"),
        std::pair("/proc/tty", "0555"), std::pair("/proc/sysvipc/msg", "0444")}) {
    const Ran control = workspace.outside({"chmod", path, mode});
    EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, EPERM)) << path;
    for (const Arguments& flags :
         {Arguments{}, Arguments{"--as-root"}, Arguments{"--view", "host"}})
      EXPECT_TRUE(blocked(workspace.inside({"chmod", path, mode}, flags), {EROFS, EPERM})) << path;
  }
}

// Of all that is in /proc only processes, and what their links lead to, can be changed by root.
KERNEL_TEST(EscapeKernelFiles, NoEntryOfTheMachineIsLeftOut) {
  if (!is_root()) return;
  const Workspace workspace;
  const char* const kModes =
      "cd /proc; for e in *; do case $e in *[!0-9]*) [ -L $e ] || "
      "chmod $(stat -c %a $e) $e 2>/dev/null && [ ! -L $e ] && echo $e;; esac; done; true";
  EXPECT_NE(run_bare({"sh", "-c", kModes}).out.find("version\n"), std::string::npos);  // control
  const Ran inside = workspace.run({"sh", "-c", kModes});
  EXPECT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_EQ(inside.out, "");
}

KERNEL_TEST(EscapeKernelFiles, ControlWhatBelongsToAProcessCanBeWritten) {
  const Workspace workspace;
  for (const Arguments& flags :
       {Arguments{}, Arguments{"--as-root"}, Arguments{"--view", "host"}}) {
    const Ran ran = workspace.run({"sh", "-ec",
                                   "echo 500 >/proc/self/oom_score_adj; "
                                   "printf renamed >/proc/$$/task/$$/comm; cat /proc/$$/comm"},
                                  flags);
    EXPECT_EQ(ran.out, "renamed\n") << ran.err;
  }
}

KERNEL_TEST(EscapeKernelFiles, SettingsOfFileSystemsAndDevices) {
  const Workspace workspace;
  for (const char* path : {"/proc/acpi/wakeup", "/proc/scsi/scsi", "/proc/dynamic_debug/control"})
    if (exists(path)) expect_not_writable(path);
  if (!is_root() || !exists("/proc/fs")) return;
  const Ran mounts = workspace.run({"cat", "/proc/self/mountinfo"});
  EXPECT_NE(mounts.out.find(" /proc/fs ro,"), std::string::npos) << mounts.out;
}

KERNEL_TEST(EscapeKernelFiles, MemoryAndKeysOfTheMachine) {
  // Their mode lets uid 0 read them, and uid 0 inside is uid 0 outside when root runs coop.
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"read", "/proc/meminfo"})));  // control: others are there
  EXPECT_TRUE(sandboxed(workspace));
  std::size_t present = 0;
  for (const char* path : {"/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup",
                           "/proc/slabinfo", "/proc/vmallocinfo", "/proc/allocinfo",
                           "/proc/pagetypeinfo", "/proc/timer_list", "/proc/sched_debug"}) {
    if (!exists(path)) continue;
    ++present;
    const Ran control = workspace.outside({"open-read", path});
    EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, {EACCES, EPERM})) << path;
    for (const Arguments& flags :
         {Arguments{}, Arguments{"--as-root"}, Arguments{"--view", "host"}})
      EXPECT_TRUE(blocked(workspace.inside({"open-read", path}, flags), {EACCES, EPERM})) << path;
  }
  EXPECT_GT(present, 0u);
  if (!is_root()) return;  // an ordinary user's keyrings are listed: names, not contents
  for (const char* path : {"/proc/keys", "/proc/key-users"}) {
    EXPECT_TRUE(escaped(workspace.outside({"open-read", path}))) << path;
    EXPECT_TRUE(blocked(workspace.inside({"open-read", path}), EACCES)) << path;
  }
}

KERNEL_TEST(EscapeKernelFiles, DevicesOfTheMachine) {
  const Workspace workspace;
  EXPECT_TRUE(
      escaped(workspace.inside({"write", "/dev/null", "x"})));  // control: some devices work
  for (const char* path : {"/dev/mem", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/vda",
                           "/dev/sda", "/dev/console", "/dev/loop-control", "/dev/input/event0"})
    for (const char* view : {"minimal", "host"})
      EXPECT_TRUE(blocked(workspace.inside({"list", "/dev", path + 5}, {"--view", view}), ENOENT))
          << path;
}

KERNEL_TEST(EscapeKernelFiles, MakingADevice) {
  const Workspace workspace;
  // An ordinary user may not do this outside either; root may.
  const Ran control = workspace.outside({"device", "outside"});
  EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, EPERM));
  EXPECT_TRUE(sandboxed(workspace));
  EXPECT_TRUE(escaped(workspace.inside({"fifo", "fifo"})));  // control: the call as such works
  EXPECT_TRUE(blocked(workspace.inside({"device", "inside"}), {EPERM, EACCES}));
  EXPECT_TRUE(blocked(workspace.inside({"device", "inside"}, {"--as-root"}), {EPERM, EACCES}));
  EXPECT_FALSE(exists(workspace / "inside"));
}

KERNEL_TEST(EscapeKernelFiles, ADeviceThatLiesInTheWorkspace) {
  // Made earlier, by root. The mount is nodev.
  const Workspace workspace;
  const Ran made = workspace.outside({"device", "zero"});
  if (!is_root()) {  // only root can make one: nothing to test
    EXPECT_TRUE(blocked(made, EPERM));
    return;
  }
  ASSERT_TRUE(escaped(made));
  EXPECT_TRUE(escaped(workspace.outside({"open-write", "zero"})));
  EXPECT_TRUE(blocked(workspace.inside({"open-write", "zero"}), EACCES));
  EXPECT_TRUE(blocked(workspace.inside({"open-write", "zero"}, {"--view", "host"}), EACCES));
}

KERNEL_TEST(EscapeKernelFiles, SharedMemorySegmentsOfTheHost) {
  const Workspace workspace;
  const key_t key = 0x63000000 + ::getpid();
  const int segment = ::shmget(key, 4096, IPC_CREAT | 0600);
  ASSERT_GE(segment, 0);
  EXPECT_TRUE(escaped(workspace.outside({"shared-memory", std::to_string(key)})));
  EXPECT_TRUE(blocked(workspace.inside({"shared-memory", std::to_string(key)}), ENOENT));
  ::shmctl(segment, IPC_RMID, nullptr);
}

KERNEL_TEST(EscapeKernelFiles, ProcessesOfTheHostInProc) {
  const Workspace workspace;
  const Victim victim;
  EXPECT_TRUE(escaped(workspace.outside({"read", "/proc/" + victim.pid() + "/cmdline"})));
  for (const char* view : {"minimal", "host"})
    EXPECT_TRUE(
        blocked(workspace.inside({"read", "/proc/" + victim.pid() + "/cmdline"}, {"--view", view}),
                ENOENT));
}

}  // namespace
}  // namespace coop::tests
