#include "report/status.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "host/probe.h"
#include "host/verdict.h"

#ifndef COOP_VERSION
#define COOP_VERSION "0.1.0"
#endif

namespace coop::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNameWidth = 22;
constexpr std::string_view kIndent = "                          ";  // indentation of the reasons

struct Row {
  std::string key;   // in JSON
  std::string name;  // for people
  Feature feature;
};

Feature landlock_feature(const HostFacts& facts) {
  if (facts.landlock_abi > 0)
    return {.available = true, .detail = "ABI " + std::to_string(facts.landlock_abi)};
  if (facts.kernel < KernelVersion{5, 13})
    return {.reason = "the kernel is older than 5.13", .fix = "use Linux 5.13 or later"};
  return {.reason = "switched off or not built in",
          .fix = "add landlock to the kernel's lsm= boot parameter"};
}

std::string kind_of(const CgroupFacts& cgroup) {
  static constexpr const char* kKinds[] = {"none", "v1", "v2", "scope"};
  return kKinds[static_cast<std::size_t>(cgroup.kind)];
}

Feature cgroup_feature(const HostFacts& facts) {
  if (facts.cgroup.kind == CgroupKind::none) {
    std::string reason = facts.cgroup.reason;
    reason += reason.empty() ? "limits use setrlimit" : "; limits use setrlimit";
    const bool systemd_may_help = facts.uid != 0 && facts.nested_in.empty();
    return {.reason = std::move(reason),
            .fix = systemd_may_help ? "with cgroup v2: log in so that systemd --user runs; with "
                                      "cgroup v1: boot with systemd.unified_cgroup_hierarchy=1"
                                    : "make the control group writable for coop"};
  }
  return {.available = true, .detail = joined(std::views::keys(facts.cgroup.directories), ", ")};
}

// What depends on it.
Feature fuse_feature(const HostFacts& facts) {
  Feature fuse = facts.fuse;
  if (fuse.available) fuse.detail = "git directories are served by name";
  else
    fuse.reason +=
        "; git directories are guarded by mounts, which end when the host's git replaces a file";
  return fuse;
}

// The first of these namespaces that is missing.
std::optional<Feature> needs(const HostFacts& facts, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (!facts.namespace_available(name))
      return Feature{.reason = std::string("needs a ") + name + " namespace"};
  return std::nullopt;
}

Feature proc_feature(const HostFacts& facts) {
  if (facts.proc == ProcMount::full) return {.available = true};
  if (facts.proc == ProcMount::pid_subset)
    return {
        .available = true, .detail = "processes only (subset=pid)", .fix = facts.proc_refusal.fix};
  if (const auto missing = needs(facts, {"user", "mount", "pid"})) return *missing;
  return facts.proc_refusal;
}

Feature hostname_feature(const HostFacts& facts) {
  return needs(facts, {"user", "uts"}).value_or(facts.hostname);
}

std::vector<Row> rows_of(const HostFacts& facts) {
  std::vector<Row> rows;
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time"}) {
    const auto found = facts.namespaces.find(name);
    const Feature feature =
        found == facts.namespaces.end() ? Feature{.reason = "not tried"} : found->second;
    rows.push_back({std::string(name) + "_namespace", std::string(name) + " namespaces", feature});
  }
  Feature seccomp = facts.seccomp;
  if (seccomp.available && seccomp.detail.empty())
    seccomp.detail = joined(facts.seccomp_flags, ", ");
  const Feature cgroup = cgroup_feature(facts);
  rows.push_back({"landlock", "landlock", landlock_feature(facts)});
  rows.push_back({"seccomp", "seccomp filter", std::move(seccomp)});
  rows.push_back({"seccomp_notify", "seccomp notify", facts.seccomp_notify});
  rows.push_back(
      {"cgroup", cgroup.available ? "cgroup " + kind_of(facts.cgroup) : "cgroups", cgroup});
  rows.push_back({"proc", "fresh /proc", proc_feature(facts)});
  rows.push_back({"hostname", "host name", hostname_feature(facts)});
  rows.push_back({"overlay", "overlayfs", facts.overlay});
  rows.push_back({"fuse", "/dev/fuse", fuse_feature(facts)});
  rows.push_back({"id_ranges", "uid and gid ranges", facts.id_ranges});
  rows.push_back({"pasta", "pasta", facts.pasta});
  rows.push_back({"slirp4netns", "slirp4netns", facts.slirp4netns});
  return rows;
}

// What is shown beside the name.
const std::string& remark_of(const Feature& feature) {
  if (!feature.available) return feature.reason;
  return feature.program.empty() ? feature.detail : feature.program;
}

std::string row_text(const Row& row) {
  std::string text = row.feature.available ? "  ✓ " : "  ✗ ";
  text += row.name;
  if (const std::string& remark = remark_of(row.feature); !remark.empty()) {
    text.append(row.name.size() < kNameWidth ? kNameWidth - row.name.size() : 1, ' ');
    text += printable(remark);
  }
  text += '\n';
  if (!row.feature.fix.empty())
    text += std::string(kIndent) + "fix: " + printable(row.feature.fix) + "\n";
  return text;
}

Json cgroup_json(const CgroupFacts& cgroup) {
  Json json{{"kind", kind_of(cgroup)}, {"directories", Json::object()}};
  for (const auto& [controller, directory] : cgroup.directories)
    json["directories"][controller] = directory;
  json["unified"] = cgroup.unified;
  return json;
}

}  // namespace

std::string status_text(const HostFacts& facts) {
  std::string text = "coop " COOP_VERSION " on Linux " + std::to_string(facts.kernel.major) + "." +
                     std::to_string(facts.kernel.minor) + " (" + facts.architecture + ")\n";
  text += "isolation: " + host::isolation_name(facts) + "\n";
  if (!facts.nested_in.empty()) text += "inside: " + printable(facts.nested_in) + "\n";
  text += '\n';
  for (const Row& row : rows_of(facts)) text += row_text(row);
  text += '\n';
  for (const std::string& line : host::degraded(facts)) text += "degraded: " + line + "\n";
  const std::vector<std::string> missing = host::missing_for_sandbox(facts);
  text += missing.empty() ? "The default sandbox can run here.\n"
                          : "The default sandbox cannot run here, it lacks: " +
                                printable(joined(missing, ", ")) + ".\n";
  return text;
}

std::string status_json(const HostFacts& facts) {
  static constexpr std::string_view kProc[] = {"refused", "full", "pid_subset"};
  Json json{{"version", COOP_VERSION},
            {"kernel", facts.kernel_release},
            {"architecture", facts.architecture},
            {"isolation", host::isolation_name(facts)},
            {"can_sandbox", host::can_sandbox(facts)},
            {"missing", host::missing_for_sandbox(facts)},
            {"degraded", host::degraded(facts)},
            {"nested_in", facts.nested_in},
            {"features", Json::object()},
            {"landlock_abi", facts.landlock_abi},
            {"seccomp_flags", facts.seccomp_flags},
            {"proc", kProc[static_cast<std::size_t>(facts.proc)]},
            {"cgroup", cgroup_json(facts.cgroup)}};
  for (const Row& row : rows_of(facts))
    json["features"][row.key] = Json{{"available", row.feature.available},
                                     {"reason", remark_of(row.feature)},
                                     {"fix", row.feature.fix}};
  // A path may hold any bytes; the default handler would throw on invalid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coop::report
