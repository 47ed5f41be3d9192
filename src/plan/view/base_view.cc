// The base of each view, before the user's rules.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/path.h"
#include "plan/view/layout.h"

namespace coop::plan {

namespace {

struct BasePath {
  const char* path;
  const char* why;
};

constexpr std::array kSystemPaths{
    BasePath{"/usr", "programs and libraries"},
    BasePath{"/bin", "programs"},
    BasePath{"/sbin", "programs"},
    BasePath{"/lib", "libraries"},
    BasePath{"/lib32", "libraries"},
    BasePath{"/lib64", "libraries and the dynamic loader"},
    BasePath{"/libx32", "libraries"},
};

constexpr std::array kDevices{
    BasePath{"/dev/null", "discards"},        BasePath{"/dev/zero", "zeroes"},
    BasePath{"/dev/full", "always full"},     BasePath{"/dev/random", "random bytes"},
    BasePath{"/dev/urandom", "random bytes"}, BasePath{"/dev/tty", "the sandbox's own terminal"},
};

constexpr std::array kDeviceLinks{
    BasePath{"/dev/fd", "/proc/self/fd"},       BasePath{"/dev/stdin", "/proc/self/fd/0"},
    BasePath{"/dev/stdout", "/proc/self/fd/1"}, BasePath{"/dev/stderr", "/proc/self/fd/2"},
    BasePath{"/dev/ptmx", "pts/ptmx"},          BasePath{"/dev/shm", "/tmp"},
};

// Readable by the real root only, by their mode alone or for keys of its uid.
constexpr std::array kProcHidden{
    BasePath{"/proc/kpagecount", "memory of other processes, page by page"},
    BasePath{"/proc/kpageflags", "memory of other processes, page by page"},
    BasePath{"/proc/kpagecgroup", "memory of other processes, page by page"},
    BasePath{"/proc/slabinfo", "the kernel's heap: where an exploit finds out whether it worked"},
    BasePath{"/proc/vmallocinfo", "addresses in the kernel"},
    BasePath{"/proc/allocinfo", "the kernel's allocations"},
    BasePath{"/proc/pagetypeinfo", "the kernel's free memory"},
    BasePath{"/proc/timer_list", "addresses in the kernel, and names of other processes"},
    BasePath{"/proc/sched_debug", "names of other processes"},
    BasePath{"/proc/keys", "keyrings of the host"},
    BasePath{"/proc/key-users", "keyrings of the host"},
};

// For lscpu, nproc, htop and numactl. They hold counts, topology, caches and counters of the processors and of memory, like
// /proc/cpuinfo and /proc/meminfo; what root could write there is read-only. The rest of /sys has devices, firmware tables, file
// systems and control groups of the host.
constexpr std::array kMachine{
    BasePath{"/sys/devices/system/cpu", "which processors there are"},
    BasePath{"/sys/devices/system/node", "which memory belongs to which processor"},
};

// A kernel with POSIX message queues has it, mounted or not.
constexpr const char* kMessageQueues = "/proc/sys/fs/mqueue";

// Private, and limited in size and in number of files.
Entry writable_tmpfs(const Policy& policy, const char* path, std::uint32_t mode, Origin origin,
                     const char* why) {
  return {.kind = Entry::Kind::tmpfs,
          .target = path,
          .flags = {.access = Access::read_write},
          .size = policy.limits.tmp_size,
          .inodes = inodes_for(policy.limits),
          .mode = mode,
          .origin = std::move(origin),
          .why = why};
}

void add_minimal(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  const Origin origin = Origin::of_coop(Part::view, to_text(View::minimal));
  for (const BasePath& base : kSystemPaths) {
    const PathFact& fact = host.fact(base.path);
    if (fact.target_kind == PathKind::missing) continue;
    const bool link = fact.kind == PathKind::symlink;
    entries.push_back(Entry{.kind = link ? Entry::Kind::symlink : Entry::Kind::bind,
                            .target = base.path,
                            .source = link ? Path{} : fact.canonical,
                            .shape = fact.kind,
                            .text = fact.link,
                            .origin = origin,
                            .why = base.why});
  }
  entries.push_back(
      writable_tmpfs(policy, "/run", 0755, origin, "for sockets and pid files of programs inside"));
  entries.push_back(writable_tmpfs(policy, "/var/tmp", 01777, origin, "for temporary files"));
  add_etc(entries, policy, host);
}

void add_host(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  const Origin origin = Origin::of_coop(Part::view, to_text(View::host));
  const auto fresh = [&](const char* path, std::uint32_t mode, const char* why) {
    if (!host.has(path) || host.fact(path).kind == PathKind::symlink) return;
    entries.push_back(writable_tmpfs(policy, path, mode, origin, why));
    entries.back().sealed = path == std::string_view("/dev");
  };
  fresh("/run", 0755, "holds the sockets of the host's daemons; a fresh one holds none");
  fresh("/var/tmp", 01777, "other people's temporary files");
  fresh("/dev", 0755, "a fresh one holds only harmless devices");
  for (const char* path : {"/sys", "/mnt", "/media"}) {
    if (!host.has(path) || host.fact(path).kind == PathKind::symlink) continue;
    entries.push_back(Entry{.kind = Entry::Kind::hide,
                            .target = path,
                            .origin = origin,
                            .why = "the host's devices and kernel settings, or other disks"});
  }
}

}  // namespace

// An inode takes about 1 KiB of the kernel's memory, so beyond the default this adds an eighth to the size that was granted.
std::uint64_t inodes_for(const Limits& limits) {
  constexpr std::uint64_t kBytesForEach = 8192;
  const bool chosen = limits.tmp_inodes != Limits{}.tmp_inodes;
  return chosen ? limits.tmp_inodes : std::max(limits.tmp_inodes, limits.tmp_size / kBytesForEach);
}

bool is_hidden(const Policy& policy, const PathFact& fact, const Path& path) {
  return std::ranges::any_of(policy.rules, [&](const PathRule& rule) {
    return rule.kind == RuleKind::hide &&
           (is_within(path, rule.path) || is_within(fact.canonical, rule.path));
  });
}

std::vector<Path> base_paths(View view, const HostFacts& host) {
  std::vector<Path> paths;
  const auto add = [&](const auto& table) {
    for (const BasePath& base : table) paths.emplace_back(base.path);
  };
  add(kSystemPaths);
  add(kDevices);
  add(kMachine);
  paths.emplace_back(kMessageQueues);
  if (host.uid == 0) {
    add(kProcHidden);
  }
  if (view == View::host)
    for (const char* path :
         {"/run", "/tmp", "/var/tmp", "/dev", "/sys", "/mnt", "/media", "/proc", "/dev/pts"})
      paths.emplace_back(path);
  return paths;
}

void add_base(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  if (policy.view == View::minimal) add_minimal(entries, policy, host);
  else add_host(entries, policy, host);
  for (const BasePath& base : kMachine) {
    const PathFact& fact = host.fact(base.path);
    if (fact.kind != PathKind::directory || is_hidden(policy, fact, base.path)) continue;
    entries.push_back(Entry{.kind = Entry::Kind::bind,
                            .target = base.path,
                            .source = fact.canonical,
                            .flags = {.exec = false},
                            .origin = Origin::of_coop(Part::view, to_text(policy.view)),
                            .why = base.why});
  }
  entries.push_back(writable_tmpfs(policy, "/tmp", 01777,
                                   origin_of(policy, "tmp_size", "--tmp-size"),
                                   "private, limited in size and in number of files"));
  if (policy.shared_tmp != nullptr) entries.back().life = TmpfsLife::shared;
}

void add_devices(std::vector<Entry>& entries, const HostFacts& host) {
  for (const BasePath& device : kDevices) {
    if (!host.has(device.path)) continue;
    entries.push_back(Entry{.kind = Entry::Kind::bind,
                            .target = device.path,
                            .source = host.fact(device.path).canonical,
                            .shape = PathKind::file,
                            .flags = {.access = Access::read_write, .exec = false, .devices = true},
                            .origin = Origin::of_coop(Part::devices),
                            .why = device.why});
  }
  for (const BasePath& link : kDeviceLinks)
    entries.push_back(Entry{.kind = Entry::Kind::symlink,
                            .target = link.path,
                            .text = link.why,
                            .origin = Origin::of_coop(Part::devices),
                            .why = "programs expect it"});
  entries.push_back(Entry{.kind = Entry::Kind::devpts,
                          .target = "/dev/pts",
                          .origin = Origin::of_coop(Part::devices),
                          .why = "terminals of the sandbox's own"});
  if (!host.has(kMessageQueues)) return;
  entries.push_back(
      Entry{.kind = Entry::Kind::mqueue,
            .target = "/dev/mqueue",
            .origin = Origin::of_coop(Part::devices),
            .why = "message queues of the sandbox's own; Landlock needs a path for them"});
}

Result<void> add_proc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                      std::vector<std::string>& notes) {
  if (host.proc == ProcMount::refused) {
    const std::string reason =
        host.proc_refusal.reason.empty()
            ? "this kernel refuses a fresh /proc here" +
                  (host.nested_in.empty() ? std::string() : " (nested in " + host.nested_in + ")")
            : host.proc_refusal.reason;
    if (policy.need(Mechanism::proc) == Need::required)
      return unsupported(
          "plan /proc", reason,
          (host.proc_refusal.fix.empty() ? "start the outer container with an unmasked /proc"
                                         : host.proc_refusal.fix) +
              "; or go without /proc: --best-effort proc");
    notes.push_back("proc: not mounted, " + reason + " (policy: best_effort)");
    entries.push_back(Entry{.kind = Entry::Kind::hide,
                            .target = "/proc",
                            .origin = Origin::of_flag("--best-effort", "proc"),
                            .why = "the outer /proc shows other people's processes"});
    return {};
  }
  // A process that is uid 0 outside passes the permission checks of /proc even without capabilities: core_pattern alone would
  // be an escape, and a mode that it changes counts for the whole machine.
  const bool root = host.uid == 0 && host.proc != ProcMount::pid_subset;
  entries.push_back(
      Entry{.kind = Entry::Kind::proc,
            .target = "/proc",
            .flags = {.access = root ? Access::read_only : Access::read_write},
            .origin = Origin::of_coop(Part::namespaces),
            .why = root ? "shows the sandbox's own processes only; uid 0 outside could write "
                          "kernel settings, and change modes for the whole machine"
                        : "shows the sandbox's own processes only"});
  if (!root) return {};
  for (const BasePath& path : kProcHidden) {
    if (!host.has(path.path)) continue;
    entries.push_back(Entry{.kind = Entry::Kind::hide,
                            .target = path.path,
                            .shape = PathKind::file,
                            .origin = Origin::of_coop(Part::running_as_root),
                            .why = path.why});
  }
  return {};
}

}  // namespace coop::plan
