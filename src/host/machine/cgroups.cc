#include "host/machine/cgroups.h"

#include <unistd.h>

#include <array>
#include <optional>

#include "base/path.h"
#include "host/probe.h"
#include "host/text.h"
#include "sys/dbus/user_manager.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

constexpr std::array<std::string_view, 4> kUnifiedControllers{"memory", "pids", "cpu", "io"};
constexpr std::array<std::string_view, 3> kLegacyControllers{"memory", "pids", "cpu"};

bool exists(const Path& path) { return ::access(path.c_str(), F_OK) == 0; }

// Whether a group can be made here and a process of ours moved into it. The kernel requires write
// access to cgroup.procs of the nearest common ancestor of the old and the new group; as we only
// look at ancestors of our own group, this directory is that ancestor.
bool can_hold_our_group(const Path& directory) {
  return ::access(directory.c_str(), W_OK | X_OK) == 0 &&
         ::access(join(directory, "cgroup.procs").c_str(), W_OK) == 0;
}

std::string offered(const Path& directory, const char* file) {
  return read_file(join(directory, file)).value_or("");
}

// A group with processes in it cannot enable controllers; only the root of the hierarchy can, which
// has no cgroup.type.
bool can_enable_controllers(const Path& root) {
  return ::access(join(root, "cgroup.subtree_control").c_str(), W_OK) == 0 &&
         (!exists(join(root, "cgroup.type")) || offered(root, "cgroup.procs").empty());
}

void take_controllers(CgroupFacts& facts, const Path& directory, std::string_view offers) {
  facts.directories.clear();
  for (const std::string_view controller : kUnifiedControllers)
    if (has_word(offers, controller)) facts.directories.emplace(controller, directory);
  if (facts.directories.empty()) return;
  facts.kind = CgroupKind::v2;
  facts.unified = directory;
}

// Walks up from our own group. The nearest group that offers both memory and pids wins: a higher
// one would also escape the limits on the groups between.
void look_upwards(CgroupFacts& facts, const Path& root, const Path& own) {
  CgroupFacts partial = facts;
  for (Path directory = own;; directory = parent_of(directory)) {
    if (can_hold_our_group(directory)) {
      if (facts.unified.empty()) facts.unified = partial.unified = directory;
      // At the root of the hierarchy we can enable controllers that are not offered yet.
      const bool enable = directory == root && can_enable_controllers(root);
      const std::string offers =
          offered(directory, enable ? "cgroup.controllers" : "cgroup.subtree_control");
      if (has_word(offers, "memory") && has_word(offers, "pids"))
        return take_controllers(facts, directory, offers);
      if (partial.kind == CgroupKind::none) take_controllers(partial, directory, offers);
    }
    if (directory == root) break;
  }
  facts = partial;
}

void find_unified(CgroupFacts& facts, const Path& root, const std::map<std::string, Path>& own) {
  const auto group = own.find("");
  // A path with ".." means that our group is not visible in this cgroup namespace, and that nothing
  // we could make here would have a common ancestor with it.
  if (group == own.end() || group->second.starts_with("/..")) return;
  const Path directory = group->second == "/" ? root : root + group->second;
  if (exists(directory)) look_upwards(facts, root, directory);
}

std::optional<Path> find_legacy(const Path& base, std::string_view controller, const Path& own) {
  const Path root = join(base, controller);
  const Path directory = own == "/" ? root : root + own;
  // In a container the path is the host's and the mount begins at our group.
  const Path& chosen = exists(directory) ? directory : root;
  if (own.starts_with("/..") || !can_hold_our_group(chosen)) return std::nullopt;
  return chosen;
}

}  // namespace

std::map<std::string, Path> parse_own_groups(std::string_view text) {
  std::map<std::string, Path> groups;
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    const auto hierarchy = to_number(take_field(rest, ':'));
    std::string_view controllers = take_field(rest, ':');
    if (!hierarchy || !rest.starts_with('/')) continue;
    if (controllers.empty()) {
      if (hierarchy == 0) groups.emplace("", rest);
      continue;
    }
    while (!controllers.empty()) groups.emplace(take_field(controllers, ','), rest);
  }
  return groups;
}

CgroupFacts find_cgroups(const Path& base, std::string_view own_groups) {
  CgroupFacts facts;
  const std::map<std::string, Path> own = parse_own_groups(own_groups);
  const bool pure = exists(join(base, "cgroup.controllers"));
  const Path root = pure ? base : join(base, "unified");
  if (pure || exists(join(root, "cgroup.controllers"))) find_unified(facts, root, own);
  if (pure && facts.kind == CgroupKind::none)
    facts.reason = facts.unified.empty()
                       ? "no write access to our control group or any above it"
                       : "no group above ours that we can write offers memory or pids";
  if (pure || facts.kind != CgroupKind::none) return facts;

  for (const std::string_view controller : kLegacyControllers) {
    const auto group = own.find(std::string(controller));
    if (group == own.end()) continue;
    if (auto directory = find_legacy(base, controller, group->second))
      facts.directories.emplace(controller, std::move(*directory));
  }
  if (!facts.directories.empty()) facts.kind = CgroupKind::v1;
  else if (own.empty()) facts.reason = "the kernel shows no control groups";
  else facts.reason = "no write access to the memory, pids or cpu groups (cgroup v1)";
  return facts;
}

CgroupFacts find_scope(const Path& base, std::string_view own_group) {
  CgroupFacts facts;
  if (!own_group.starts_with('/') || normalize(own_group) != own_group) return facts;
  const Path directory = own_group == "/" ? base : base + std::string(own_group);
  const std::string offers = offered(directory, "cgroup.controllers");
  for (const std::string_view controller : kUnifiedControllers)
    if (has_word(offers, controller)) facts.directories.emplace(controller, directory);
  if (has_word(offers, "memory") || has_word(offers, "pids")) facts.kind = CgroupKind::scope;
  return facts;
}

namespace {

// Asks; changes nothing.
CgroupFacts ask_user_manager(const Path& base,
                             const std::map<std::string, std::string>& environment) {
  for (const Path& socket : dbus::manager_sockets(environment)) {
    Result<dbus::UserManager> manager = dbus::UserManager::connect(socket);
    if (!manager) continue;
    const Result<std::string> group = manager->control_group();
    if (!group) continue;
    CgroupFacts facts = find_scope(base, *group);
    facts.manager = socket;
    return facts;
  }
  return {};
}

}  // namespace

void inspect_cgroups(HostFacts& facts) {
  const Path base = "/sys/fs/cgroup";
  facts.cgroup = find_cgroups(base, read_file("/proc/self/cgroup").value_or(""));
  if (facts.cgroup.kind != CgroupKind::none || !exists(join(base, "cgroup.controllers"))) return;
  CgroupFacts scope = ask_user_manager(base, facts.environment);
  if (scope.kind == CgroupKind::scope) facts.cgroup = std::move(scope);
}

}  // namespace coop::host
