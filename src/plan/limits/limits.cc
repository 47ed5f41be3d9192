#include "plan/limits/limits.h"

#include <sys/resource.h>

#include <algorithm>

namespace coop::plan {

namespace {

constexpr std::uint64_t kLongestQueue = 0x7fffffff;  // the kernel keeps it in an int

// Since Linux 5.14 RLIMIT_NPROC counts per user namespace, so it limits one sandbox. The kernel
// never applies it to uid 0 of the initial namespace.
bool process_limit_counts_inside(const HostFacts& host) {
  return host.uid != 0 && host.kernel >= KernelVersion{5, 14};
}

class Planner {
 public:
  Planner(Plan& plan, const Policy& policy, const HostFacts& host)
      : plan_(plan), policy_(policy), host_(host) {}

  Result<void> run() {
    const Limits& limits = policy_.limits;
    if (limits.memory) TRY(memory(*limits.memory));
    if (limits.pids) TRY(pids(*limits.pids));
    if (limits.milli_cpus) TRY(cpus(*limits.milli_cpus));
    if (limits.open_files)
      resource(RLIMIT_NOFILE, "open files", *limits.open_files,
               origin_of(policy_, "open_files", "--open-files"));
    if (limits.file_size)
      resource(RLIMIT_FSIZE, "file size", *limits.file_size,
               origin_of(policy_, "file_size", "--file-size"));
    // Soft: `ulimit -c unlimited` of a script succeeds. A core file is written by the process itself, where it may write.
    plan_.add(ResourceLimit{RLIMIT_CORE, "core dump size", 0, LimitKind::soft}, Origin::of_coop(),
              "setrlimit");
    // Queues made inside count for the user outside too: without a limit of its own a sandbox could keep the user's other
    // programs from making any. Since Linux 5.14 the process's limit is compared with what its user namespace holds.
    constexpr std::uint64_t kPart = 4;
    plan_.add(ResourceLimit{RLIMIT_MSGQUEUE, "bytes in message queues", kPart, LimitKind::part},
              Origin::of_coop(), "processes of the host share this limit, and keep a part of it");
    // The same for signals that wait, timers included.
    plan_.add(ResourceLimit{RLIMIT_SIGPENDING, "pending signals", kPart, LimitKind::part},
              Origin::of_coop(), "processes of the host share this limit, and keep a part of it");
    // A user's session may allow real-time priority (the group "audio"), which no limit on processors holds back.
    plan_.add(ResourceLimit{RLIMIT_RTPRIO, "real-time priority", 0}, Origin::of_coop(),
              "setrlimit");
    plan_.add(ResourceLimit{RLIMIT_NICE, "raised priority", 0}, Origin::of_coop(), "setrlimit");
    if (!plan_.group.limits.empty()) {
      plan_.group.kind = host_.cgroup.kind;
      plan_.group.manager = host_.cgroup.manager;
      plan_.group.name = "coop-" + policy_.id;
    }
    return {};
  }

 private:
  bool group(const char* controller, const char* v2_file, const char* v1_file,
             const std::string& v2_value, const std::string& v1_value) {
    const auto directory = host_.cgroup.directories.find(controller);
    if (host_.cgroup.kind == CgroupKind::none || directory == host_.cgroup.directories.end())
      return false;
    const bool v2 = host_.cgroup.kind != CgroupKind::v1;
    plan_.group.limits.push_back(GroupLimit{controller, directory->second, v2 ? v2_file : v1_file,
                                            v2 ? v2_value : v1_value});
    return true;
  }

  void resource(int number, const char* name, std::uint64_t value, const Origin& origin) {
    plan_.add(ResourceLimit{number, name, value}, origin, "setrlimit");
  }

  // Success: continue with a weaker limit.
  Result<void> weaker(const std::string& what, const std::string& how) {
    const std::string reason =
        host_.cgroup.reason.empty() ? "no control group can be made here" : host_.cgroup.reason;
    if (policy_.need(Mechanism::limits) == Need::required)
      return unsupported("plan limits", what + " needs a control group: " + reason,
                         "see `coop status`; run with --best-effort limits to use setrlimit");
    plan_.notes.push_back("limits: " + what + " " + how + "; " + reason + " (policy: best_effort)");
    return {};
  }

  Result<void> memory(std::uint64_t bytes) {
    const std::string text = std::to_string(bytes);
    if (group("memory", "memory.max", "memory.limit_in_bytes", text, text)) {
      // Swap would double the memory available. Older kernels lack the file: see
      // run/start/group.cc.
      group("memory", "memory.swap.max?", "memory.memsw.limit_in_bytes?", "0", text);
      // Buffers of TCP connections are counted apart in version 1.
      if (host_.cgroup.kind == CgroupKind::v1)
        group("memory", "", "memory.kmem.tcp.limit_in_bytes?", "", text);
      return {};
    }
    resource(RLIMIT_DATA, "data of one process", bytes, origin_of(policy_, "memory", "--memory"));
    if (!host_.lists_children)
      return weaker("the memory limit", "is applied to each process, not to the sandbox");
    plan_.group.sampled_memory = bytes;
    return weaker("the memory limit",
                  "is applied to each process, and to the sandbox by adding them up ten times a "
                  "second");
  }

  Result<void> pids(std::uint64_t count) {
    const bool inside = process_limit_counts_inside(host_);
    if (inside)
      resource(RLIMIT_NPROC, "processes", count, origin_of(policy_, "pids_limit", "--pids"));
    const bool asked = policy_.limits.pids != Limits{}.pids;
    const std::string text = std::to_string(count);
    const bool grouped = (asked || !inside) && group("pids", "pids.max", "pids.max", text, text);
    if (inside || grouped) return {};
    return weaker("the process limit", "is not applied");
  }

  Result<void> cpus(std::uint64_t milli) {
    constexpr std::uint64_t kPeriod = 100000;  // microseconds
    const std::string quota = std::to_string(milli * kPeriod / 1000);
    if (group("cpu", "cpu.max", "cpu.cfs_quota_us", quota + " " + std::to_string(kPeriod), quota))
      return {};
    return weaker("the CPU limit", "is not applied");
  }

  Plan& plan_;
  const Policy& policy_;
  const HostFacts& host_;
};

}  // namespace

// The kernel counts inotify instances and watches in every user namespace from the process's up to the first one.
void add_shared_limits(Plan& plan, const Policy& policy, const HostFacts& host) {
  if (host.settings_read_only) {
    plan.notes.emplace_back(
        "limits: the sandbox may use up this user's inotify instances: /proc/sys is read-only "
        "here");
    return;
  }
  const Origin origin = Origin::of_coop();
  const char* const why = "processes of the host share this limit, and keep a part of it";
  if (host.inotify_instances > 0)
    plan.add(KernelSetting{"/proc/sys/user/max_inotify_instances",
                           std::max(host.inotify_instances / 4, std::uint64_t{1})},
             origin, why);
  if (host.inotify_watches > 0)
    plan.add(KernelSetting{"/proc/sys/user/max_inotify_watches",
                           std::max(host.inotify_watches / 2, std::uint64_t{1})},
             origin, why);
  // Since 6.10 the kernel counts descriptors in flight when they are queued, but compares with RLIMIT_NOFILE before: many
  // senders that wait for a full queue would each get by the limit. Older kernels lack the file in such a namespace.
  if (policy.network != NetworkMode::host)
    plan.add(KernelSetting{"/proc/sys/net/unix/max_dgram_qlen", kLongestQueue, Missing::skip},
             origin, "so that no sender waits between the check of its limit and being counted");
  // Not with veth: NAT keeps a source port below 1024, by which servers outside (NFS) know the root of a machine.
  if (policy.network != NetworkMode::host && policy.network != NetworkMode::veth)
    plan.add(KernelSetting{"/proc/sys/net/ipv4/ip_unprivileged_port_start", 0, Missing::skip},
             origin, "servers inside may use ports below 1024, which nothing outside can reach");
}

Result<void> add_limits(Plan& plan, const Policy& policy, const HostFacts& host) {
  return Planner(plan, policy, host).run();
}

}  // namespace coop::plan
