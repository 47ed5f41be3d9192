#include "run/own_directories.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.h"
#include "plan/view/layout.h"
#include "sys/real_path.h"

namespace coop::run {

namespace {

bool is_there(const Path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

std::vector<Path> writable_trees(const Policy& policy) {
  std::vector<Path> trees;
  if (policy.workspace_access == Access::read_write) trees.push_back(policy.workspace);
  for (const PathRule& rule : policy.rules)
    if (rule.kind == RuleKind::read_write) trees.push_back(resolved_path(rule.path));
  return trees;
}

void add_missing(MissingDirectories& missing, const Path& wanted) {
  for (Path part = wanted; part != "/" && !is_there(part); part = parent_of(part))
    missing.emplace(part, resolved_path(part));
}

}  // namespace

MissingDirectories missing_own_directories(const Policy& policy, const HostFacts& host) {
  const std::vector<Path> trees = writable_trees(policy);
  MissingDirectories missing;
  for (const Path& wanted : plan::own_directories(host)) {
    if (is_there(wanted)) continue;
    const Path path = resolved_path(wanted);
    if (std::ranges::none_of(trees, [&](const Path& tree) { return is_within(path, tree); }))
      continue;
    add_missing(missing, wanted);
  }
  if (policy.home.kind == HomeKind::kept)
    add_missing(missing, plan::kept_home(host, policy.home.name));
  return missing;
}

// In the order of the map a directory comes before what lies in it.
Result<void> make_directories(const MissingDirectories& missing) {
  for (const auto& [written, path] : missing)
    if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
      return with_context("making coop's own directory, so that it can be hidden",
                          Result<void>(system_error("mkdir", path)));
  return {};
}

void assume_directories(HostFacts& host, std::span<const Path> paths,
                        const MissingDirectories& missing) {
  if (missing.empty()) return;
  for (const Path& path : paths)
    if (const auto found = missing.find(path); found != missing.end())
      host.paths.insert_or_assign(path, PathFact{.kind = PathKind::directory,
                                                 .target_kind = PathKind::directory,
                                                 .canonical = found->second});
}

}  // namespace coop::run
