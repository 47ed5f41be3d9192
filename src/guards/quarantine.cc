#include "guards/quarantine.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/path.h"
#include "guards/git/judge.h"
#include "guards/quarantine_store.h"
#include "guards/workspace.h"
#include "policy/builtin.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostNotes = 200;
constexpr int kRounds = 64;

bool same_object(const GuardedPath& left, const GuardedPath& right) {
  return left.device == right.device && left.inode == right.inode && left.link == right.link;
}

class Quarantine {
 public:
  Quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
             const Path& directory)
      : trees_(trees),
        before_(before),
        store_(directory),
        mounted_(trees.mounted.begin(), trees.mounted.end()) {
    for (const WorkspaceFacts& facts : before)
      for (const GuardedPath& path : facts.guarded) known_.emplace(path.path, &path);
  }

  QuarantineReport run() {
    for (std::size_t index = 0; index < trees_.roots.size(); ++index) {
      if (index < before_.size()) {
        clean(trees_.roots[index], before_[index]);
      } else {
        note(trees_.roots[index],
             "was not scanned before the run, so new files in it cannot be detected");
      }
    }
    if (notes_left_out_ > 0)
      report_.notes.push_back(std::to_string(notes_left_out_) + " more notes are left out");
    return std::move(report_);
  }

 private:
  // One walk finds everything, unless it stopped at a limit: then moving files makes room for the
  // next walk.
  void clean(const Path& root, const WorkspaceFacts& before) {
    bool complete = false;
    for (int round = 0; round < kRounds && !complete; ++round) {
      const Result<WorkspaceFacts> now = inspect_again(root, trees_.names, before, trees_.roots);
      if (!now) return note(root, "could not be scanned: " + to_text(now.error()));
      const std::size_t moved = report_.moved.size();
      for (const GuardedPath& found : now->guarded)
        if (!is_within(found.path, store_.directory()) && !follows_new_link(found, *now))
          judge(root, before, found, round);
      complete = now->complete;
      if (report_.moved.size() == moved) break;
    }
    if (!complete) note(root, "could not be scanned completely: some guarded files may remain");
    put_links_back(root, before);
  }

  void judge(const Path& root, const WorkspaceFacts& before, const GuardedPath& found, int round) {
    const GuardedPath* const old = find(found.path);
    const Path base = base_of(root, before, found.path);
    const std::string_view relative = relative_to(found.path, base);
    if (policy::guard_kind(found.guard) == policy::GuardKind::contents) {
      if (const auto program = new_program(base, relative, found, old))
        move(base, found, nullptr, *program);
      return;
    }
    if (!is_new(found, old, before)) {
      if (old != nullptr && round == 0) compare(found, *old);
      return;
    }
    // A repository that was made inside stays usable if it runs nothing on the host.
    const std::optional<std::string> danger =
        is_included(found.path, before) ? "" : danger_at(base, relative, found, trees_.roots);
    if (old != nullptr || danger) move(base, found, old, danger.value_or(""));
  }

  // A file that the user's own configuration includes belongs to a repository that was there before.
  static bool is_included(const Path& path, const WorkspaceFacts& before) {
    return std::ranges::any_of(before.named, [&](const NamedPath& named) {
      return named.guard == ".git/config" && normalize(named.path) == path;
    });
  }

  // The target of a new symlink stays where it is: only the symlink is moved.
  bool follows_new_link(const GuardedPath& found, const WorkspaceFacts& now) const {
    if (found.through.empty()) return false;
    const auto link = std::ranges::lower_bound(now.guarded, found.through, {}, &GuardedPath::path);
    const GuardedPath* const old = find(found.through);
    return old == nullptr || link == now.guarded.end() || link->path != found.through ||
           !same_object(*link, *old);
  }

  bool is_new(const GuardedPath& found, const GuardedPath* old,
              const WorkspaceFacts& before) const {
    if (found.harmless) return false;
    // After an incomplete first walk, "not seen before" proves nothing, so use the ctime: creating,
    // linking or renaming sets it, and a program cannot choose it.
    if (old == nullptr) return before.complete || found.changed >= before.started;
    // A .git file that was harmless now leads elsewhere: something on its path was replaced.
    if (!same_object(found, *old) || old->harmless) return true;
    // File systems reuse inode numbers, so the same inode proves nothing about a file that could be
    // removed.
    return found.link.empty() && found.changed != old->changed && !was_mounted(found.path);
  }

  bool was_mounted(const Path& path) const {
    if (mounted_.contains(path)) return true;
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1))
      if (mounted_.contains(path.substr(0, slash))) return true;
    return false;
  }

  void move(const Path& base, const GuardedPath& found, const GuardedPath* old,
            const std::string& problem) {
    const std::string_view relative = relative_to(found.path, base);
    Result<Path> moved = store_.take(base, relative);
    if (!moved) {
      // It was moved with a parent directory, or by a concurrent run of coop.
      if (QuarantineStore::is_gone(base, relative)) return;
      note(found.path, "could not be moved to the quarantine: " + to_text(moved.error()));
      moved = QuarantineStore::set_aside(base, relative);
      if (!moved) return note(found.path, "is still there: " + to_text(moved.error()));
    }
    if (old != nullptr && old->link.empty())
      note(found.path, "was changed or replaced during the run although it was guarded");
    report_.moved.push_back(Quarantined{
        .path = found.path, .moved_to = *moved, .guard = found.guard, .problem = problem});
  }

  void compare(const GuardedPath& found, const GuardedPath& old) {
    if (found.directory || found.changed == old.changed) return;
    const bool shared = found.links > 1 || old.links > 1;
    note(found.path, shared ? "changed during the run although guarded: it has other hard links"
                            : "changed during the run although guarded: by a program outside");
  }

  // A guarded symlink could not be pinned. Restore it if it is missing or was replaced.
  void put_links_back(const Path& root, const WorkspaceFacts& before) {
    for (const GuardedPath& old : before.guarded) {
      if (old.link.empty()) continue;
      const Path base = base_of(root, before, old.path);
      const Result<void> made =
          QuarantineStore::make_link(base, relative_to(old.path, base), old.link);
      if (made) note(old.path, "was removed or replaced during the run: the symlink was put back");
    }
  }

  // The tree that contains a path: a repository may name hooks in another tree.
  Path base_of(const Path& root, const WorkspaceFacts& before, const Path& path) const {
    for (const Path& git : before.outside_git)
      if (is_within(path, git)) return git;
    if (is_within(path, root)) return root;
    for (const Path& other : trees_.roots)
      if (is_within(path, other)) return other;
    return root;
  }

  const GuardedPath* find(const Path& path) const {
    const auto found = known_.find(path);
    return found == known_.end() ? nullptr : found->second;
  }

  void note(const Path& path, const std::string& text) {
    if (report_.notes.size() < kMostNotes) {
      report_.notes.push_back(printable(path + " " + text));
    } else {
      ++notes_left_out_;
    }
  }

  WatchedTrees trees_;
  const std::vector<WorkspaceFacts>& before_;
  QuarantineStore store_;
  std::set<Path> mounted_;
  std::map<std::string_view, const GuardedPath*> known_{};
  QuarantineReport report_{};
  std::size_t notes_left_out_ = 0;
};

}  // namespace

QuarantineReport quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
                            const Path& directory) {
  return Quarantine(trees, before, directory).run();
}

}  // namespace coop::guards
