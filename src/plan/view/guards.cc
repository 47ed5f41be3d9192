// Write guards: files that host programs obey are read-only inside a writable workspace.
#include <algorithm>
#include <set>

#include "base/path.h"
#include "plan/compile.h"
#include "plan/view/layout.h"
#include "plan/view/serving.h"
#include "plan/view/worktrees.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

constexpr std::size_t kLongestPath = 4000;  // PATH_MAX less the longest prefix of a view

// The guarded trees and where they are inside, then the repositories outside the workspace.
WatchedRoots watched(const Policy& policy, const HostFacts& host,
                     const std::vector<Entry>& entries) {
  std::vector<std::pair<Path, Path>> roots;
  for (const Path& tree : guarded_trees(policy, host)) {
    const std::vector<Path> places = places_of(tree, entries, View::minimal);
    roots.emplace_back(tree, places.empty() ? tree : places.front());
  }
  for (const Path& git : host.workspace.outside_git) roots.emplace_back(git, git);
  return roots;
}

std::string reason_of(std::string_view guard) {
  for (const policy::NamedReason& known : policy::guards())
    if (known.name == guard) return std::string(known.reason);
  return {};
}

void protect(std::vector<Entry>& entries, const GuardedPath& guarded, const Path& root,
             const Path& root_target) {
  const Path target = join(root_target, relative_to(guarded.path, root));
  if (is_covered(entries, target, root_target)) return;
  const Origin origin = Origin::of_coop(Part::guard, guarded.guard);
  pin_parents(entries, target, root_target, origin, "pinned: it leads to a guarded path");
  make_read_only(entries, target, Rank::guard, origin, reason_of(guarded.guard));
}

// A repository in one tree may name guarded paths in another: parents come first.
std::vector<GuardedPath> sorted(std::vector<GuardedPath> guarded) {
  std::ranges::sort(guarded, {}, &GuardedPath::path);
  const auto rest = std::ranges::unique(guarded, {}, &GuardedPath::path);
  guarded.erase(rest.begin(), rest.end());
  return guarded;
}

// Contents of a guarded directory are read-only with it. Pinned separately, the directories between
// would become writable.
bool lies_in_one(Path path, const std::set<Path>& guarded) {
  for (; path.size() > 1; path = parent_of(path))
    if (guarded.contains(path)) return true;
  return false;
}

// A grant of a guarded path would silently disable the guard. Its name alone decides: it need not be in a tree that
// was looked through.
Result<void> check_granted_names(const Policy& policy, const HostFacts& host,
                                 const std::vector<std::string>& names) {
  for (const PathRule& rule : policy.rules) {
    if (rule.kind != RuleKind::read_write || rule.origin.part == Part::cache) continue;
    const PathFact& fact = host.fact(rule.path);
    // A workspace may lie in a guarded directory: agents keep worktrees in ~/.cursor.
    const Path path = is_within(fact.canonical, policy.workspace)
                          ? "/" + Path(relative_to(fact.canonical, policy.workspace))
                          : fact.canonical;
    if (const auto guard = policy::guard_around(path, names, host.home))
      return invalid(rule.origin, in_quotes(rule.path) + " is guarded: " + reason_of(*guard),
                     "to allow it: --allow-guarded " + *guard);
  }
  return {};
}

// A workspace that is a guarded directory has no guarded names in it. Agents keep checkouts in directories of their own
// (~/.cursor/worktrees), and what the workspace's own repository holds is guarded there; but none is in a git directory.
Result<void> check_workspace_name(const Policy& policy, const HostFacts& host,
                                  const std::vector<std::string>& names) {
  if (policy.workspace_access != Access::read_write) return {};
  const auto guard = policy::guard_around(policy.workspace, names, host.home);
  if (!guard) return {};
  const WorkspaceFacts& facts = host.workspace;
  const bool checkout =
      !facts.outside_git.empty() || std::ranges::find(facts.git, join(policy.workspace, ".git"),
                                                      &GitDirectory::path) != facts.git.end();
  if (checkout && !guard->starts_with(".git/")) return {};
  return invalid("--workspace", in_quotes(policy.workspace) + " is guarded: " + reason_of(*guard),
                 "to allow it: --allow-guarded " + *guard);
}

// The same for what git's configuration names, and for symlinks.
Result<void> check_grants(const Policy& policy, const HostFacts& host, const GuardedPath& guarded) {
  for (const PathRule& rule : policy.rules) {
    if (rule.kind != RuleKind::read_write) continue;
    const PathFact& fact = host.fact(rule.path);
    if (fact.canonical.empty()) continue;
    if (is_within(fact.canonical, guarded.path))
      return invalid(rule.origin, in_quotes(rule.path) + " is guarded: " + reason_of(guarded.guard),
                     "to allow it: --allow-guarded " + guarded.guard);
  }
  return {};
}

}  // namespace

std::vector<Path> guarded_trees(const Policy& policy, const HostFacts& host) {
  std::vector<Path> trees;
  if (policy.workspace_access == Access::read_write) trees.push_back(policy.workspace);
  for (const PathRule& rule : policy.rules) {
    if (rule.kind != RuleKind::read_write) continue;
    const PathFact& fact = host.fact(rule.path);
    if (fact.target_kind != PathKind::directory) continue;
    const bool covered = std::ranges::any_of(
        trees, [&](const Path& tree) { return is_within(fact.canonical, tree); });
    if (!covered && rule.origin.part != Part::cache) trees.push_back(fact.canonical);
  }
  return trees;
}

Result<GuardPlan> add_guards(std::vector<Entry>& entries, const Policy& policy,
                             const HostFacts& host, std::vector<std::string>& notes) {
  GuardPlan plan;
  plan.names = TRY(policy::guard_names(policy.allow_guarded));
  TRY(check_granted_names(policy, host, plan.names));
  TRY(check_workspace_name(policy, host, plan.names));
  const auto roots = watched(policy, host, entries);
  if (roots.empty()) return GuardPlan{};
  for (const auto& [root, target] : roots) plan.roots.push_back(root);
  serve_git(entries, host, plan, roots);
  add_worktrees(entries, policy, host, plan.served);
  std::set<Path> served;
  for (const GitDirectory& git : plan.served) served.insert(git.path);
  std::set<Path> done;
  notes.insert(notes.end(), host.workspace.notes.begin(), host.workspace.notes.end());
  for (const GuardedPath& guarded : sorted(host.workspace.guarded)) {
    if (std::ranges::find(plan.names, guarded.guard) == plan.names.end()) continue;
    // git rewrites and removes these while it works, and only what they say decides.
    if (policy::guard_kind(guarded.guard) == policy::GuardKind::contents) continue;
    // A symlink cannot be a mount point; its target is listed separately, and a replaced one is
    // restored afterwards. Nor can a path be a mount point that is too long.
    if (!guarded.link.empty() || guarded.path.size() >= kLongestPath) continue;
    TRY(check_grants(policy, host, guarded));
    const bool by_name = lies_in_one(guarded.path, served);
    for (const auto& [root, target] : roots) {
      if (by_name || guarded.path == root || !is_within(guarded.path, root)) continue;
      if (!lies_in_one(guarded.path, done)) protect(entries, guarded, root, target);
      done.insert(guarded.path);
      plan.mounted.push_back(guarded.path);
      plan.places.push_back(join(target, relative_to(guarded.path, root)));
      break;
    }
    if (guarded.links > 1 && !guarded.directory)
      notes.push_back("guarded file " + printable(guarded.path) + " has " +
                      std::to_string(guarded.links) +
                      " hard links: it can be changed through its other names");
  }
  if (!host.workspace.complete)
    notes.push_back(
        "guards: the workspace is too large to look at all of it; nested repositories may be "
        "unguarded");
  return plan;
}

}  // namespace coop::plan
