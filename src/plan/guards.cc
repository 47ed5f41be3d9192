// Write guards: what the host's own programs would obey is read-only inside a writable workspace.
#include <algorithm>
#include <set>

#include "base/path.h"
#include "plan/layout.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

constexpr std::size_t kLongestPath = 4000;  // PATH_MAX less the longest prefix of a view

// The writable trees of the host that guards watch over: each root and where it is inside.
std::vector<std::pair<Path, Path>> watched(const Policy& policy, const HostFacts& host) {
  std::vector<std::pair<Path, Path>> roots{{policy.workspace, workspace_target(policy)}};
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
  // Without the pins, `mv .git .g2` would carry the protected directory away and leave its name
  // free for another. A mount point cannot be renamed or removed.
  for (const Path& ancestor : ancestors_below(target, root_target))
    entries.push_back(Entry{.kind = Entry::Kind::remount,
                            .target = ancestor,
                            .flags = {.access = Access::read_write},
                            .order = 2,
                            .origin = "guard " + guarded.guard,
                            .why = "pinned: it leads to a guarded path"});
  entries.push_back(Entry{.kind = Entry::Kind::remount,
                          .target = target,
                          .flags = {.access = Access::read_only},
                          .order = 3,
                          .origin = "guard " + guarded.guard,
                          .why = reason_of(guarded.guard)});
}

}  // namespace

Result<GuardPlan> add_guards(std::vector<Entry>& entries, const Policy& policy,
                             const HostFacts& host, std::vector<std::string>& notes) {
  GuardPlan plan;
  plan.names = TRY(policy::guard_names(policy.allow_guarded));
  if (policy.workspace_access == Access::read_only) return GuardPlan{};
  const auto roots = watched(policy, host);
  for (const auto& [root, target] : roots) plan.roots.push_back(root);
  for (const GuardedPath& guarded : host.workspace.guarded) {
    if (std::ranges::find(plan.names, guarded.guard) == plan.names.end()) continue;
    // A symlink cannot be a mount point; what it leads to is listed by itself, and one that was
    // replaced is put back afterwards. Nor can a path be mounted on that is too long to name.
    if (!guarded.link.empty() || guarded.path.size() >= kLongestPath) continue;
    for (const auto& [root, target] : roots) {
      if (guarded.path == root || !is_within(guarded.path, root)) continue;
      protect(entries, guarded, root, target);
      plan.mounted.push_back(guarded.path);
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
