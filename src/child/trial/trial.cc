#include "child/trial/trial.h"

#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <initializer_list>

#include "child/process.h"
#include "child/state.h"

namespace coop::child {

namespace {

// Report each step at once: an outer seccomp filter may kill us at the next one.
bool report(const TrialOrder& order, TrialStep step, int error) noexcept {
  const TrialRecord record{step, error};
  raw::call(SYS_write, order.report, &record, sizeof record);
  return error == 0;
}

// By the child on purpose. Ubuntu's AppArmor rule lets every user create the namespace and takes the capabilities away
// inside it; a map written by the parent would not notice.
int map_ids(const TrialOrder& order) noexcept {
  write_file("/proc/self/setgroups", "deny");  // unprivileged gid maps need it
  if (const int error = write_file("/proc/self/gid_map", order.gid_map)) return error;
  return write_file("/proc/self/uid_map", order.uid_map);
}

// The layers are in a tmpfs mounted over "/": the path "/" still leads to what is below, so enter
// by descriptor and use relative paths.
int mount_overlay() noexcept {
  const ScopedFd tmpfs(new_filesystem("tmpfs", nullptr, 0));
  if (tmpfs.failed()) return tmpfs.error();
  if (const int error =
          attempt(SYS_move_mount, tmpfs.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH))
    return error;
  if (const int error = attempt(SYS_fchdir, tmpfs.get())) return error;
  for (const char* name : {"lower", "upper", "work", "merged"})
    if (const int error = attempt(SYS_mkdirat, AT_FDCWD, name, 0700)) return error;
  return attempt(SYS_mount, "overlay", "merged", "overlay", 0,
                 "userxattr,lowerdir=lower,upperdir=upper,workdir=work");
}

int install_filter(unsigned long flags) noexcept {
  sock_filter allow_everything = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{1, &allow_everything};
  return attempt(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// Detached mounts, which go with the child; what matters is that they were granted.
void try_mounts(const TrialOrder& order) noexcept {
  // Private before anything is mounted, or the mounts below would propagate to the host.
  const long made_private =
      raw::call(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (!report(order, TrialStep::private_mounts, error_of(made_private))) return;
  if (!report(order, TrialStep::proc, error_of(new_filesystem("proc", nullptr, 0))))
    report(order, TrialStep::proc_subset, error_of(new_filesystem("proc", "subset=pid\0", 0)));
  report(order, TrialStep::overlay, mount_overlay());
}

void try_filters(const TrialOrder& order) noexcept {
  raw::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (report(order, TrialStep::filter, install_filter(0)))
    report(order, TrialStep::listener, install_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

void run_trial(const void* argument) noexcept {
  const TrialOrder& order = *static_cast<const TrialOrder*>(argument);
  switch (order.work) {
    case TrialWork::nothing: break;
    case TrialWork::map_ids: report(order, TrialStep::map_ids, map_ids(order)); break;
    case TrialWork::mounts:
      if (report(order, TrialStep::map_ids, map_ids(order))) try_mounts(order);
      break;
    case TrialWork::filters: try_filters(order); break;
  }
  for (;;) raw::call(SYS_exit_group, 0);
}

}  // namespace

long start_trial(std::uint64_t clone_flags, const TrialOrder& order) noexcept {
  return clone_process({.flags = clone_flags}, run_trial, &order);
}

}  // namespace coop::child
