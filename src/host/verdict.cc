#include "host/verdict.h"

#include <string_view>

#include "host/probe.h"

namespace coop::host {
namespace {

std::string with_reason(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : what + " (" + reason + ")";
}

}  // namespace

std::vector<std::string> missing_for_sandbox(const HostFacts& facts) {
  std::vector<std::string> missing;
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts"}) {
    if (facts.namespace_available(name)) continue;
    const auto found = facts.namespaces.find(name);
    missing.push_back(with_reason(std::string(name) + " namespaces",
                                  found == facts.namespaces.end() ? "" : found->second.reason));
    // The others depend on this one; listing them would hide the cause.
    if (std::string_view(name) == "user") break;
  }
  const bool could_mount = facts.namespace_available("user") &&
                           facts.namespace_available("mount") && facts.namespace_available("pid");
  if (could_mount && facts.proc == ProcMount::refused)
    missing.push_back(with_reason("a fresh /proc", facts.proc_refusal.reason));
  if (!facts.seccomp.available)
    missing.push_back(with_reason("seccomp filters", facts.seccomp.reason));
  return missing;
}

std::vector<std::string> degraded(const HostFacts& facts) {
  std::vector<std::string> lines;
  if (facts.landlock_abi == 0)
    lines.emplace_back("no Landlock: the mount view is the only wall around files");
  else if (facts.landlock_abi < 6)
    lines.emplace_back("Landlock before ABI 6: abstract sockets are held back by namespaces alone");
  if (facts.cgroup.kind == CgroupKind::none)
    lines.emplace_back("no control group: memory and processes are limited with setrlimit");
  if (facts.proc == ProcMount::pid_subset)
    lines.emplace_back("/proc shows processes only (subset=pid): no /proc/meminfo, /proc/sys");
  if (!facts.hostname.available)
    lines.emplace_back("the host name inside is the one outside: setting another is refused");
  if (!facts.overlay.available)
    lines.emplace_back("no overlayfs: copy-on-write directories are not possible");
  if (!facts.seccomp_notify.available)
    lines.emplace_back("no seccomp listener: approvals while running are not possible");
  if (!facts.namespace_available("cgroup"))
    lines.emplace_back("no cgroup namespace: /proc/self/cgroup shows the host's groups");
  if (!facts.namespace_available("time"))
    lines.emplace_back("no time namespace: clocks cannot be shifted");
  return lines;
}

bool can_sandbox(const HostFacts& facts) { return missing_for_sandbox(facts).empty(); }

std::string isolation_name(const HostFacts& facts) {
  if (!can_sandbox(facts)) return "none";
  return facts.landlock_abi > 0 ? "linux (namespaces + landlock + seccomp)"
                                : "linux (namespaces + seccomp)";
}

}  // namespace coop::host
