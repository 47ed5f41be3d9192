#include "plan/view/serving.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"
#include "plan/compile.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

// Large, no host program obeys a file in them, and git replaces their files instead of writing to them: mounted, so that
// they cost nothing. Not logs: git appends to those, and would follow a symlink.
constexpr std::array kNatives{"objects", "refs", "lfs"};
constexpr std::size_t kMostServed = 32;
constexpr std::size_t kMostNatives = 128;

// Without such a guard in force nothing in a git directory is read-only.
bool is_about_git(const std::string& name) {
  return (name == ".git" || name.starts_with(".git/")) &&
         policy::guard_kind(name) != policy::GuardKind::contents;
}

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
    if (std::ranges::none_of(plan_.names, is_about_git)) return;
    for (const GitDirectory& git : host_.workspace.git) {
      if (const auto* outer = outer_of(git.path)) {
        add_served(git, join(outer->second, relative_to(git.path, outer->first)));
        continue;
      }
      if (!is_repository(git.path, host_)) continue;
      // Its guards are mounts, which init leaves out if it cannot get there.
      if (contains(host_.locked_git, git.path)) continue;
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

}  // namespace

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

std::vector<Path> wanted_natives(const HostFacts& host) {
  std::vector<Path> paths;
  if (!host.fuse.available) return paths;
  for (const GitDirectory& git : host.workspace.git)
    for (const char* name : kNatives) paths.push_back(join(git.path, name));
  return paths;
}

void serve_git(std::vector<Entry>& entries, const HostFacts& host, GuardPlan& plan,
               const WatchedRoots& roots) {
  Serving(entries, host, plan, roots).run();
}

}  // namespace coop::plan
