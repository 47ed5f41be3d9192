#include "host/explain.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/path.h"
#include "host/accounts.h"
#include "host/environment.h"
#include "host/machine/nesting.h"
#include "host/machine/trial.h"
#include "host/probe.h"
#include "host/text.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::host {
namespace {

std::string first_line(const Path& path) {
  const std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

std::optional<std::uint64_t> sysctl(const Path& path) { return to_number(first_line(path)); }

// An ordinary user cannot distinguish a chroot into the root of a mount from a container; this
// detects the usual case, a plain directory.
bool root_is_changed() {
  struct statx root{};
  constexpr std::uint64_t kMountRoot = STATX_ATTR_MOUNT_ROOT;
  if (::syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS, &root) < 0) return false;
  return (root.stx_attributes_mask & kMountRoot) != 0 && (root.stx_attributes & kMountRoot) == 0;
}

Path own_program() { return read_link("/proc/self/exe").value_or("coop"); }

Feature refused(std::string reason, std::string fix) {
  return {.reason = std::move(reason), .fix = std::move(fix)};
}

Feature blocked_by_apparmor(const UserNamespaceClues& clues) {
  return refused(
      "kernel.apparmor_restrict_unprivileged_userns is 1 and AppArmor has no profile for coop",
      "add an AppArmor profile for " + printable(clues.program) +
          " with \"flags=(unconfined) { userns, }\", or: sudo sysctl "
          "kernel.apparmor_restrict_unprivileged_userns=0");
}

bool is_confined(const UserNamespaceClues& clues) {
  return !clues.apparmor_label.empty() && clues.apparmor_label != "unconfined";
}

// docker-default, the profile that docker puts on its containers, denies mount whatever the filter says.
std::string with_apparmor(const UserNamespaceClues& clues, const std::string& fix) {
  return is_confined(clues) ? fix + " --security-opt apparmor=unconfined" : fix;
}

// `what` is blocked: namespaces ("them"), or one system call. Without namespaces and mounts it is not known whether a fresh
// /proc would be refused too; with the flag for it one start of the container is enough.
Feature blocked_by_filter(const UserNamespaceClues& clues, Needed needed, const std::string& what) {
  const std::string& outer = clues.nested_in;
  const bool alone = needed == Needed::hostname;
  if (outer == "docker")
    return refused(
        "docker's default seccomp profile blocks " + what,
        with_apparmor(clues, std::string("docker run --security-opt seccomp=unconfined") +
                                 (alone ? "" : " --security-opt systempaths=unconfined")) +
            (alone ? "" : ", or a profile that allows clone3, unshare and mount"));
  if (outer == "podman")
    return refused(
        "podman's seccomp profile blocks " + what,
        with_apparmor(clues, std::string("podman run --security-opt seccomp=unconfined") +
                                 (alone ? "" : " --security-opt unmask=ALL")));
  if (outer == "kubernetes")
    return refused("the pod's seccomp profile blocks " + what,
                   "set securityContext.seccompProfile.type to Unconfined, or to a profile that "
                   "allows " +
                       (alone ? what : "clone3, unshare and mount"));
  if (outer == "coop")
    return refused(needed == Needed::namespaces
                       ? "the outer coop sandbox allows no namespaces inside it"
                       : "the outer coop sandbox blocks " + what,
                   "run this command in the outer sandbox as it is: it is already confined");
  return refused("an outer seccomp filter blocks " + what,
                 "start coop outside of the sandbox or service that installed the filter");
}

Feature blocked_by_limit(const UserNamespaceClues& clues) {
  if (clues.limit == 0)
    return refused("user.max_user_namespaces is 0", "sudo sysctl user.max_user_namespaces=15000");
  return refused("the limit user.max_user_namespaces is reached, or they are nested too deeply",
                 "end sandboxes that are still running, or: sudo sysctl "
                 "user.max_user_namespaces=15000");
}

Feature unknown_refusal(const UserNamespaceClues& clues, int errno_value) {
  std::string reason = "refused: " + trial_error_text(errno_value);
  if (!clues.nested_in.empty()) reason += ", inside " + clues.nested_in;
  return refused(std::move(reason),
                 clues.nested_in.empty()
                     ? "look for a security module's denial in the kernel log (dmesg, ausearch)"
                     : "allow user namespaces in the outer " + clues.nested_in);
}

// Every refusal is EPERM: check the known causes, the most certain first.
Feature judge_denial(const UserNamespaceClues& clues, int errno_value) {
  const bool confined = is_confined(clues);
  if (clues.clone_allowed == 0 && clues.uid != 0)
    return refused("kernel.unprivileged_userns_clone is 0",
                   "sudo sysctl kernel.unprivileged_userns_clone=1");
  if (clues.apparmor_restricts.value_or(0) != 0 && !confined && clues.uid != 0)
    return blocked_by_apparmor(clues);
  if (clues.seccomp_filter) return blocked_by_filter(clues, Needed::namespaces, "them");
  if (!clues.uid_mapped)
    return refused("our uid has no mapping in the user namespace we are in",
                   "map it when making the outer namespace (unshare --map-current-user)");
  if (clues.changed_root)
    return refused("this is a chroot, and the kernel allows none there",
                   "enter the directory with a mount namespace (systemd-nspawn, unshare -m and "
                   "pivot_root) instead of chroot");
  if (confined)
    return refused("the AppArmor profile " + printable(clues.apparmor_label) + " refuses them",
                   clues.nested_in == "docker" ? "docker run --security-opt apparmor=unconfined"
                                               : "allow \"userns,\" in that profile");
  return unknown_refusal(clues, errno_value);
}

}  // namespace

UserNamespaceClues gather_user_namespace_clues() {
  const std::string status = read_file("/proc/self/status").value_or("");
  return {
      .uid = ::geteuid(),
      .clone_allowed = sysctl("/proc/sys/kernel/unprivileged_userns_clone"),
      .limit = sysctl("/proc/sys/user/max_user_namespaces"),
      .apparmor_restricts = sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
      .apparmor_label = first_line("/proc/self/attr/apparmor/current"),
      .seccomp_filter = status_field(status, "Seccomp") == "2",
      .changed_root = root_is_changed(),
      .uid_mapped = parse_mapped_ids(read_file("/proc/self/uid_map").value_or("all 1")) > 0,
      .supported = ::access("/proc/self/ns/user", F_OK) == 0 || ::access("/proc/self", F_OK) != 0,
      .nested_in = name_nesting(gather_nesting_clues(read_environment())),
      .program = own_program(),
  };
}

Feature judge_user_namespaces(const UserNamespaceClues& clues, int errno_value) {
  if (!clues.supported)
    return refused("the kernel was built without them", "use a kernel with CONFIG_USER_NS");
  if (errno_value == EINVAL && !clues.seccomp_filter)
    return refused("the kernel lacks one of the namespaces that were asked for",
                   "use Linux 5.13 or later; `coop status` tries each by itself");
  if (errno_value == ENOSPC || errno_value == EUSERS) return blocked_by_limit(clues);
  if (errno_value == ENOSYS && !clues.seccomp_filter)
    return refused("the kernel has no clone3", "use Linux 5.13 or later");
  if (errno_value == EPERM || errno_value == EACCES || errno_value == ENOSYS ||
      errno_value == kNotReported)
    return judge_denial(clues, errno_value);
  return unknown_refusal(clues, errno_value);
}

Feature judge_refused_call(const UserNamespaceClues& clues, Needed needed, std::string_view call,
                           int errno_value) {
  const std::string name(call);
  // The kernel's own answer to a call that it lacks; a filter gives it too, so that programs take an older call.
  if (errno_value == ENOSYS && !clues.seccomp_filter)
    return refused("the kernel has no " + name, "use Linux 5.13 or later");
  if (clues.seccomp_filter && (errno_value == EPERM || errno_value == EACCES ||
                               errno_value == ENOSYS || errno_value == kNotReported))
    return blocked_by_filter(clues, needed, name);
  if (is_confined(clues) && (errno_value == EPERM || errno_value == EACCES)) {
    const bool container = clues.nested_in == "docker" || clues.nested_in == "podman";
    return refused("the AppArmor profile " + printable(clues.apparmor_label) + " refuses " + name,
                   container ? clues.nested_in + " run --security-opt apparmor=unconfined"
                             : "allow it in that profile");
  }
  std::string reason = name + " is refused: " + trial_error_text(errno_value);
  if (!clues.nested_in.empty()) reason += ", inside " + clues.nested_in;
  return refused(std::move(reason),
                 "look for a security module's denial in the kernel log (dmesg, ausearch)");
}

Feature explain_refused_call(Needed needed, std::string_view call, int errno_value) {
  return judge_refused_call(gather_user_namespace_clues(), needed, call, errno_value);
}

Feature judge_refused_proc(std::string_view nested_in) {
  constexpr const char* kCovered =
      "the kernel refuses a fresh /proc where parts of /proc are covered";
  if (nested_in == "docker")
    return refused(std::string(kCovered) + ", as docker does",
                   "docker run --security-opt systempaths=unconfined");
  if (nested_in == "podman")
    return refused(std::string(kCovered) + ", as podman does",
                   "podman run --security-opt unmask=ALL");
  if (nested_in == "kubernetes")
    return refused(std::string(kCovered) + ", as Kubernetes does",
                   "set securityContext.procMount to Unmasked (and hostUsers to false)");
  return refused(kCovered,
                 "unmount what is mounted below /proc, or start the outer container "
                 "with an unmasked /proc");
}

Feature explain_user_namespaces(int errno_value) {
  return judge_user_namespaces(gather_user_namespace_clues(), errno_value);
}

}  // namespace coop::host
