#include <linux/sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "host/explain.h"
#include "host/machine/kernel_features.h"
#include "host/machine/nesting.h"
#include "host/machine/trial.h"
#include "host/probe.h"

namespace coop::host {
namespace {

struct Namespace {
  std::string_view name;
  std::uint64_t flag;
  std::string_view limit;  // the sysctl that limits them
  std::string_view since;
};

constexpr Namespace kUser{"user", CLONE_NEWUSER, "user.max_user_namespaces", "3.8"};
constexpr std::array kOthers{
    Namespace{"mount", CLONE_NEWNS, "user.max_mnt_namespaces", "3.8"},
    Namespace{"pid", CLONE_NEWPID, "user.max_pid_namespaces", "3.8"},
    Namespace{"net", CLONE_NEWNET, "user.max_net_namespaces", "3.8"},
    Namespace{"ipc", CLONE_NEWIPC, "user.max_ipc_namespaces", "3.8"},
    Namespace{"uts", CLONE_NEWUTS, "user.max_uts_namespaces", "3.8"},
    Namespace{"cgroup", CLONE_NEWCGROUP, "user.max_cgroup_namespaces", "4.6"},
    Namespace{"time", CLONE_NEWTIME, "user.max_time_namespaces", "5.6"},
};

std::uint64_t flags_of(Extent extent) {
  std::uint64_t flags = kUser.flag;
  for (const Namespace& other : kOthers)
    if (extent == Extent::everything || (other.flag != CLONE_NEWNET && other.flag != CLONE_NEWTIME))
      flags |= other.flag;
  return flags;
}

// What was found to work, one by one.
std::uint64_t available_flags(const HostFacts& facts) {
  std::uint64_t flags = kUser.flag;
  for (const Namespace& other : kOthers)
    if (facts.namespace_available(other.name)) flags |= other.flag;
  return flags;
}

int first_error(const TrialReport& report, TrialStep last) {
  for (std::size_t step = 0; step <= static_cast<std::size_t>(last); ++step)
    if (report.errors[step] != 0) return report.errors[step];
  return 0;
}

Feature feature_of(const Namespace& kind, int error) {
  if (error == 0) return {.available = true};
  const std::string limit(kind.limit);
  if (error == ENOSPC)
    return {.reason = "the limit " + limit + " is reached",
            .fix = "sudo sysctl " + limit + "=15000"};
  if (error == EINVAL)
    return {.reason = "the kernel has none",
            .fix = "use Linux " + std::string(kind.since) + " or later, built with them"};
  return {.reason = "refused: " + trial_error_text(error)};
}

Feature overlay_feature(int error) {
  if (error == 0) return {.available = true};
  if (error == ENODEV)
    return {.reason = "the kernel has no overlayfs, or its module is not loaded",
            .fix = "sudo modprobe overlay"};
  if (error == EPERM || error == EINVAL)
    return {.reason = "not allowed in a user namespace", .fix = "use Linux 5.11 or later"};
  if (error == kNotReported) return {.reason = "needs a user and a mount namespace"};
  return {.reason = "mounting one failed: " + trial_error_text(error)};
}

// What a start needs besides the namespaces, and the system call that was refused.
struct SetupCall {
  TrialStep step;
  std::string_view call;
};

constexpr std::array kMountCalls{
    SetupCall{TrialStep::new_mount, "fsopen"},
    SetupCall{TrialStep::attach, "move_mount"},
    SetupCall{TrialStep::copy_mount, "open_tree"},
    SetupCall{TrialStep::attributes, "mount_setattr"},
    SetupCall{TrialStep::enter_root, "pivot_root"},
};

// A mount namespace in which nothing can be mounted is useless.
Feature mount_feature(const TrialReport& report) {
  for (const SetupCall& needed : kMountCalls)
    if (const int error = report.error(needed.step); error != 0)
      return explain_refused_call(Needed::mounts, needed.call, error);
  return {.available = true};
}

Feature hostname_feature(int error) {
  return error == 0 ? Feature{.available = true}
                    : explain_refused_call(Needed::hostname, "sethostname", error);
}

void record_mounts(HostFacts& facts, const TrialReport& report) {
  facts.proc = report.error(TrialStep::proc) == 0          ? ProcMount::full
               : report.error(TrialStep::proc_subset) == 0 ? ProcMount::pid_subset
                                                           : ProcMount::refused;
  // Only a mount that was tried says something about /proc.
  const bool tried = report.error(TrialStep::proc) != kNotReported;
  facts.proc_refusal =
      facts.proc == ProcMount::full || !tried ? Feature{} : judge_refused_proc(facts.nested_in);
  facts.overlay = overlay_feature(report.error(TrialStep::overlay));
}

// Something is missing: test one by one.
void try_one_by_one(HostFacts& facts) {
  const TrialReport user = attempt(TrialWork::map_ids, kUser.flag);
  const int user_error = first_error(user, TrialStep::map_ids);
  if (user_error != 0) {
    for (const Namespace& other : kOthers)
      facts.namespaces[std::string(other.name)] = {.reason = "needs a user namespace"};
    facts.namespaces["user"] = explain_user_namespaces(user_error);
    return;
  }
  facts.namespaces["user"] = {.available = true};
  std::vector<std::uint64_t> flag_sets;
  flag_sets.reserve(kOthers.size());
  for (const Namespace& other : kOthers) flag_sets.push_back(kUser.flag | other.flag);
  const std::vector<int> errors = attempt_clones(flag_sets);
  for (std::size_t index = 0; index < kOthers.size(); ++index)
    facts.namespaces[std::string(kOthers[index].name)] = feature_of(kOthers[index], errors[index]);
}

}  // namespace

void assume_namespaces(HostFacts& facts) {
  facts.namespaces["user"] = {.available = true};
  for (const Namespace& other : kOthers)
    facts.namespaces[std::string(other.name)] = {.available = true};
}

void try_namespaces(HostFacts& facts, Extent extent) {
  // All at once first: on most machines one child answers everything.
  TrialReport setup = attempt(TrialWork::setup, flags_of(extent));
  if (first_error(setup, TrialStep::map_ids) == 0) {
    assume_namespaces(facts);
  } else {
    try_one_by_one(facts);
    setup = attempt(TrialWork::setup, available_flags(facts));
  }
  if (first_error(setup, TrialStep::map_ids) == 0) {
    if (facts.namespace_available("mount")) facts.namespaces["mount"] = mount_feature(setup);
    if (facts.namespace_available("uts"))
      facts.hostname = hostname_feature(setup.error(TrialStep::hostname));
  }
  record_mounts(facts, setup);
}

bool covers_proc(const std::vector<MountFact>& mounts) {
  // Directories of the kernel that are always empty: it does not mind what is mounted there.
  static constexpr std::array<std::string_view, 2> kEmpty{"/proc/sys/fs/binfmt_misc",
                                                          "/proc/fs/nfsd"};
  return std::ranges::any_of(mounts, [](const MountFact& mount) {
    return mount.target != "/proc" && is_within(mount.target, "/proc") &&
           std::ranges::find(kEmpty, mount.target) == kEmpty.end();
  });
}

void try_proc(HostFacts& facts) {
  facts.nested_in = name_nesting(gather_nesting_clues(facts.environment));
  const TrialReport report = attempt(TrialWork::setup, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID);
  if (first_error(report, TrialStep::map_ids) == 0) record_mounts(facts, report);
}

}  // namespace coop::host
