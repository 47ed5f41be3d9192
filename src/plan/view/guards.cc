// Write guards: files that host programs obey are read-only inside a writable workspace.
#include <algorithm>
#include <array>
#include <set>

#include "base/path.h"
#include "plan/compile.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

constexpr std::size_t kLongestPath = 4000;  // PATH_MAX less the longest prefix of a view

// The guarded trees and where they are inside, then the repositories outside the workspace.
std::vector<std::pair<Path, Path>> watched(const Policy& policy, const HostFacts& host,
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

// A user's rule that is stricter than the guard, at the guarded path or above it, wins: what is
// hidden, replaced or read-only needs no guard, and a guard must not expose it again.
bool is_covered(const std::vector<Entry>& entries, const Path& target, const Path& root_target) {
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    const bool stricter =
        entry.kind == Entry::Kind::hide || entry.kind == Entry::Kind::tmpfs ||
        entry.kind == Entry::Kind::overlay ||
        ((entry.kind == Entry::Kind::bind || entry.kind == Entry::Kind::remount) &&
         entry.flags.access == Access::read_only);
    return stricter && is_within(target, entry.target) && is_within(entry.target, root_target);
  });
}

void protect(std::vector<Entry>& entries, const GuardedPath& guarded, const Path& root,
             const Path& root_target) {
  const Path target = join(root_target, relative_to(guarded.path, root));
  if (is_covered(entries, target, root_target)) return;
  const Origin origin = Origin::of_coop(Part::guard, guarded.guard);
  pin_parents(entries, target, root_target, origin, "pinned: it leads to a guarded path");
  make_read_only(entries, target, Rank::guard, origin, reason_of(guarded.guard));
}

// Large, no host program obeys a file in them, and git replaces their files instead of writing to them: mounted, so that
// they cost nothing. Not logs: git appends to those, and would follow a symlink.
constexpr std::array kNatives{"objects", "refs", "lfs"};
constexpr std::size_t kMostServed = 32;
constexpr std::size_t kMostNatives = 128;

bool is_repository(const Path& git, const HostFacts& host) {
  return git.ends_with("/.git") ||
         std::ranges::find(host.workspace.outside_git, git) != host.workspace.outside_git.end();
}

// Git directories that the supervisor serves. Names decide there at each call; a read-only mount on a file would be
// lost when the host's git renames another file over it.
class Serving {
 public:
  Serving(std::vector<Entry>& entries, const HostFacts& host, GuardPlan& plan,
          const std::vector<std::pair<Path, Path>>& roots)
      : entries_(entries), host_(host), plan_(plan), roots_(roots) {}

  void run() {
    for (const GitDirectory& git : host_.workspace.git) {
      if (const auto* outer = outer_of(git.path)) {
        add_served(git, join(outer->second, relative_to(git.path, outer->first)));
        continue;
      }
      if (!is_repository(git.path, host_)) continue;
      if (!host_.fuse.available) plan_.unserved = host_.fuse.reason;
      else if (tops_.size() >= kMostServed) plan_.unserved = "there are too many";
      else add_top(git);
    }
  }

 private:
  const std::pair<Path, Path>* outer_of(const Path& git) const {
    for (const auto& top : tops_)
      if (is_within(git, top.first)) return &top;
    return nullptr;
  }

  void add_top(const GitDirectory& directory) {
    const Path& git = directory.path;
    for (const auto& [root, root_target] : roots_) {
      const bool outside = git == root && root == root_target;
      if (!is_within(git, root) || (git == root && !outside)) continue;
      const Path target = join(root_target, relative_to(git, root));
      if (is_covered(entries_, target, root_target)) return;
      pin_parents(entries_, target, root_target, origin_, "pinned: it leads to a git directory");
      bind(git, target, Through::supervisor,
           "guarded names in it are read-only, whatever the host renames");
      tops_.emplace_back(git, target);
      return add_served(directory, target);
    }
  }

  void add_served(const GitDirectory& git, const Path& target) {
    plan_.served.push_back(git);
    for (const char* name : kNatives) {
      const Path source = join(git.path, name);
      const Path place = join(target, name);
      if (host_.fact(source).kind != PathKind::directory || natives_ >= kMostNatives ||
          is_covered(entries_, place, target) || holds_guarded(source))
        continue;
      ++natives_;
      bind(source, place, Through::mount, "no host program obeys a file in it");
    }
  }

  // git's configuration may name a hooks directory in logs.
  bool holds_guarded(const Path& source) const {
    const WorkspaceFacts& facts = host_.workspace;
    return std::ranges::any_of(
               facts.guarded,
               [&](const GuardedPath& guarded) { return is_within(guarded.path, source); }) ||
           std::ranges::any_of(facts.named, [&](const NamedPath& named) {
             return is_within(normalize(named.path), source);
           });
  }

  void bind(const Path& source, const Path& target, Through through, const char* why) {
    entries_.push_back(Entry{.kind = Entry::Kind::bind,
                             .target = target,
                             .source = source,
                             .flags = {.access = Access::read_write},
                             .through = through,
                             .rank = Rank::guard,
                             .origin = origin_,
                             .why = why});
  }

  const Origin origin_ = Origin::of_coop(Part::guard, ".git");
  std::vector<Entry>& entries_;
  const HostFacts& host_;
  GuardPlan& plan_;
  const std::vector<std::pair<Path, Path>>& roots_;
  std::vector<std::pair<Path, Path>> tops_{};  // on the host and inside
  std::size_t natives_ = 0;
};

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

std::vector<Path> wanted_natives(const HostFacts& host) {
  std::vector<Path> paths;
  if (!host.fuse.available) return paths;
  for (const GitDirectory& git : host.workspace.git)
    for (const char* name : kNatives) paths.push_back(join(git.path, name));
  return paths;
}

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
  const auto roots = watched(policy, host, entries);
  if (roots.empty()) return GuardPlan{};
  for (const auto& [root, target] : roots) plan.roots.push_back(root);
  Serving(entries, host, plan, roots).run();
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
