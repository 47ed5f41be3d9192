#include "host/machine/kernel_features.h"

#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/result.h"
#include "host/machine/trial.h"
#include "host/text.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

struct FilterFlag {
  unsigned long bits;
  std::string_view name;
};

constexpr std::array kFilterFlags{
    FilterFlag{SECCOMP_FILTER_FLAG_TSYNC, "tsync"},
    FilterFlag{SECCOMP_FILTER_FLAG_LOG, "log"},
    FilterFlag{SECCOMP_FILTER_FLAG_SPEC_ALLOW, "spec_allow"},
    FilterFlag{SECCOMP_FILTER_FLAG_NEW_LISTENER, "new_listener"},
    FilterFlag{SECCOMP_FILTER_FLAG_TSYNC_ESRCH, "tsync_esrch"},
    // Only valid for a filter with a listener.
    FilterFlag{SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
               "wait_killable_recv"},
};

// The kernel checks flags before it reads the filter, so a null filter fails with EFAULT exactly
// when the kernel knows them; nothing is installed.
bool knows_flags(unsigned long flags) {
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr) < 0 && errno == EFAULT;
}

Feature filter_feature(int error) {
  if (error == 0) return {.available = true};
  if (error == EINVAL || error == ENOSYS)
    return {.reason = "the kernel has no seccomp filters",
            .fix = "use a kernel built with CONFIG_SECCOMP_FILTER"};
  return {.reason = "installing a filter failed: " + trial_error_text(error)};
}

Feature notify_feature(int error) {
  if (error == 0) return {.available = true};
  if (error == EBUSY)
    return {.reason = "an outer sandbox already listens to this process tree",
            .fix = "Linux has one listener for each tree: start coop outside that sandbox"};
  if (error == EINVAL)
    return {.reason = "the kernel has no user notification", .fix = "use Linux 5.0 or later"};
  return {.reason = "installing a listener failed: " + trial_error_text(error)};
}

}  // namespace

KernelVersion parse_kernel_release(std::string_view release) {
  const auto leading_number = [](std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    return static_cast<int>(to_number(text.substr(0, std::min<std::size_t>(end, 6))).value_or(0));
  };
  KernelVersion version{.major = leading_number(take_field(release, '.'))};
  if (version.major > 0) version.minor = leading_number(release);
  return version;
}

int landlock_abi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

// A filter may refuse the question itself.
bool under_filter() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0; }

void inspect_shared_limits(HostFacts& facts) {
  struct statvfs status{};
  facts.settings_read_only =
      ::statvfs("/proc/sys/user", &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
  facts.lists_children = ::access("/proc/thread-self/children", R_OK) == 0;
  // A user namespace that coop itself runs in has no limit of its own; the machine's holds then.
  const auto smallest = [](const char* own, const char* machine) {
    const auto number = [](const char* path) {
      const std::string text = read_file(path).value_or("");
      return to_number(text.substr(0, text.find('\n'))).value_or(0);
    };
    constexpr std::uint64_t kUnset = 0x7fffffff;
    const std::uint64_t limit = number(own);
    return limit == kUnset ? number(machine) : limit;
  };
  facts.inotify_instances =
      smallest("/proc/sys/user/max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances");
  facts.inotify_watches =
      smallest("/proc/sys/user/max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches");
}

void try_seccomp(HostFacts& facts) {
  const TrialReport report = attempt(TrialWork::filters);
  facts.seccomp = filter_feature(report.error(TrialStep::filter));
  facts.seccomp_notify = facts.seccomp.available ? notify_feature(report.error(TrialStep::listener))
                                                 : Feature{.reason = "needs seccomp filters"};
  facts.seccomp_flags.clear();
  for (const FilterFlag& flag : kFilterFlags)
    if (knows_flags(flag.bits)) facts.seccomp_flags.emplace_back(flag.name);
}

}  // namespace coop::host
