#include "host/trial_child.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace coop::host {
namespace {

int error_of(long result) noexcept { return result < 0 ? errno : 0; }

// Each step is reported at once: an outer seccomp filter may kill us at the next one.
bool report(const TrialOrder& order, TrialStep step, int error) noexcept {
  const TrialRecord record{step, error};
  (void)!::write(order.report_fd, &record, sizeof record);
  return error == 0;
}

int write_text(const char* path, const char* text) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = error_of(::write(fd, text, std::strlen(text)));
  ::close(fd);
  return error;
}

// Done from inside on purpose. Ubuntu's AppArmor rule lets anybody create the namespace and takes
// the capabilities away inside it; a map written by the parent would not notice.
int map_ids(const TrialOrder& order) noexcept {
  (void)write_text("/proc/self/setgroups", "deny");  // unprivileged gid maps need it
  if (const int error = write_text("/proc/self/gid_map", order.gid_map.data())) return error;
  return write_text("/proc/self/uid_map", order.uid_map.data());
}

int mount_proc(const char* subset) noexcept {
  const int context = ::fsopen("proc", FSOPEN_CLOEXEC);
  if (context < 0) return errno;
  int error = 0;
  if (subset != nullptr)
    error = error_of(::fsconfig(context, FSCONFIG_SET_STRING, "subset", subset, 0));
  if (error == 0) error = error_of(::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0));
  // The mount stays detached and goes with the child; what matters is that it was granted.
  if (error == 0) error = error_of(::fsmount(context, FSMOUNT_CLOEXEC, 0));
  ::close(context);
  return error;
}

// The layers lie in a tmpfs mounted over "/", which exists everywhere: "/" itself still leads to
// what is below, so we step in by descriptor and name the layers relative to it.
int mount_overlay() noexcept {
  const int context = ::fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0) return errno;
  if (::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) return errno;
  const int tmpfs = ::fsmount(context, FSMOUNT_CLOEXEC, 0);
  if (tmpfs < 0) return errno;
  if (::move_mount(tmpfs, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0) return errno;
  if (::fchdir(tmpfs) < 0) return errno;
  for (const char* name : {"lower", "upper", "work", "merged"})
    if (::mkdir(name, 0700) < 0) return errno;
  return error_of(::mount("overlay", "merged", "overlay", 0,
                          "userxattr,lowerdir=lower,upperdir=upper,workdir=work"));
}

int install_filter(unsigned long flags) noexcept {
  sock_filter allow_everything = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{1, &allow_everything};
  return error_of(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

}  // namespace

void run_namespace_trial(const TrialOrder& order) noexcept {
  if (!report(order, TrialStep::map_ids, map_ids(order))) ::_exit(0);
  if (order.work == TrialWork::map_ids) ::_exit(0);

  // Private before anything is mounted, or the mounts below would spread to the host.
  const int error = error_of(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  if (!report(order, TrialStep::private_mounts, error)) ::_exit(0);
  if (!report(order, TrialStep::proc, mount_proc(nullptr)))
    report(order, TrialStep::proc_subset, mount_proc("pid"));
  report(order, TrialStep::overlay, mount_overlay());
  ::_exit(0);
}

void run_filter_trial(const TrialOrder& order) noexcept {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (report(order, TrialStep::filter, install_filter(0)))
    report(order, TrialStep::listener, install_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER));
  ::_exit(0);
}

}  // namespace coop::host
