#include "child/trial/trial.h"

#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include <initializer_list>

#include "child/process.h"
#include "child/sandbox/trees.h"
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
  // The files of a process that is not dumpable belong to root, and a supervisor is not.
  raw::call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  write_file("/proc/self/setgroups", "deny");  // unprivileged gid maps need it
  if (const int error = write_file("/proc/self/gid_map", order.gid_map)) return error;
  if (const int error = write_file("/proc/self/uid_map", order.uid_map)) return error;
  raw::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  return 0;
}

// In the working directory.
int mount_overlay() noexcept {
  for (const char* name : {"lower", "upper", "work"})
    if (const int error = attempt(SYS_mkdirat, AT_FDCWD, name, 0700)) return error;
  return error_of(
      new_filesystem("overlay", "lowerdir=lower\0upperdir=upper\0workdir=work\0userxattr\0", 0));
}

int install_filter(unsigned long flags) noexcept {
  sock_filter allow_everything = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{1, &allow_everything};
  return attempt(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// A new root, built with the calls of sandbox/mounts.cc: an outer filter may allow some of them and refuse others. All of
// it goes with the child; nothing propagates to the host, because the mounts of a new user namespace are slaves of the
// host's. What the path "/" names is below the new root, so enter that by descriptor and use relative paths.
void try_mounts(const TrialOrder& order) noexcept {
  const ScopedFd root(new_filesystem("tmpfs", nullptr, 0));
  if (!report(order, TrialStep::new_mount, root.failed() ? root.error() : 0)) return;
  if (!report(order, TrialStep::attach,
              attempt(SYS_move_mount, root.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH)))
    return;
  const ScopedFd copy(clone_tree(root.get()));
  if (report(order, TrialStep::copy_mount, copy.failed() ? copy.error() : 0))
    report(order, TrialStep::attributes, set_attributes(copy.get(), MOUNT_ATTR_RDONLY));
  if (!report(order, TrialStep::proc, error_of(new_filesystem("proc", nullptr, 0))))
    report(order, TrialStep::proc_subset, error_of(new_filesystem("proc", "subset=pid\0", 0)));
  if (attempt(SYS_fchdir, root.get()) != 0) return;
  report(order, TrialStep::overlay, mount_overlay());
  const int entered = attempt(SYS_pivot_root, ".", ".");
  report(order, TrialStep::enter_root,
         entered != 0 ? entered : attempt(SYS_umount2, ".", MNT_DETACH));
}

// The host name comes last: a filter that kills for it has let the rest be tried.
void try_setup(const TrialOrder& order) noexcept {
  try_mounts(order);
  report(order, TrialStep::hostname, attempt(SYS_sethostname, "coop", 4));
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
    case TrialWork::setup:
      if (report(order, TrialStep::map_ids, map_ids(order))) try_setup(order);
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
