#include "guards/quarantine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <string_view>

#include "base/path.h"
#include "base/text.h"
#include "guards/changes.h"
#include "guards/git/checkout.h"
#include "guards/git/directory.h"
#include "guards/git/judge.h"
#include "guards/git/outside.h"
#include "guards/links/package_links.h"
#include "guards/names.h"
#include "guards/quarantine_store.h"
#include "guards/trail.h"
#include "guards/workspace.h"
#include "policy/builtin.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostNotes = 200;
constexpr std::size_t kMostListed = 100;
constexpr const char* kMayChange = "a program may still have it open for writing";
constexpr const char* kNamedMeanwhile =
    "git's configuration has named it since the run began, and it has changed since then";

bool same_object(const GuardedPath& left, const GuardedPath& right) {
  return left.device == right.device && left.inode == right.inode && left.born == right.born &&
         left.link == right.link;
}

// A symlink with the same text leads to the same place, also if it is another one.
bool same_link(const GuardedPath& left, const GuardedPath& right) {
  return !left.link.empty() && left.link == right.link;
}

// Whether the sandbox could not write `file` at `place`. The trees inside and outside are the same but for mounts, so
// what is missing or different inside is covered by one. A mount is attached to an entry of a directory and follows it
// when the host renames it; replacing or removing the entry ends the mount for good. So what lies under a mount now did
// so all the time.
bool is_out_of_reach(const InsideView& view, const Path& place, const GuardedPath& file) {
  const InsideTree from = view.start_of(place);
  const Path below(relative_to(place, from.place));
  const Result<UniqueFd> inside = open_beneath(from.directory, below, O_PATH | O_NOFOLLOW);
  if (!inside) return inside.error().errno_value == ENOENT || inside.error().errno_value == ENOTDIR;
  struct stat status{};
  struct statvfs mount{};
  if (::fstat(inside->get(), &status) < 0 || ::fstatvfs(inside->get(), &mount) < 0) return false;
  return (mount.f_flag & ST_RDONLY) != 0 || status.st_dev != file.device ||
         status.st_ino != file.inode;
}

}  // namespace

InsideTree InsideView::start_of(const Path& path) const {
  for (const InsideTree& tree : trees)
    if (is_within(path, tree.place)) return tree;
  return {.place = "/", .directory = root};
}

namespace {

class Quarantine {
 public:
  Quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
             const Path& directory)
      : trees_(trees), before_(before), store_(directory) {
    for (std::size_t index = 0; index < trees.mounted.size(); ++index)
      mounted_.emplace(trees.mounted[index],
                       index < trees.places.size() ? trees.places[index] : Path());
    for (const WorkspaceFacts& facts : before)
      for (const GuardedPath& path : facts.guarded) {
        known_.emplace(path.path, &path);
        moved_.emplace(std::pair(path.device, path.inode), &path);
      }
    for (const WorkspaceFacts& facts : before)
      known_links_.insert(known_links_.end(), facts.package_links.begin(),
                          facts.package_links.end());
    std::ranges::sort(known_links_, {}, &PackageLink::path);
  }

  QuarantineReport run() {
    // What was taken from one tree may have hidden something in another.
    constexpr int kMostRounds = 50;
    for (int round = 0; round == 0 || (took_any_ && trees_.roots.size() > 1); ++round) {
      if (round == kMostRounds) {
        remains(trees_.roots.front(),
                "has guarded files that appeared in each look: some may remain");
        break;
      }
      took_any_ = false;
      clean_all(round);
    }
    if (notes_left_out_ > 0)
      report_.notes.push_back(std::to_string(notes_left_out_) + " more notes are left out");
    return std::move(report_);
  }

 private:
  void clean_all(int round) {
    for (std::size_t index = 0; index < trees_.roots.size(); ++index)
      if (index < before_.size()) clean(trees_.roots[index], before_[index]);
      else if (round == 0)
        note(trees_.roots[index],
             "was not scanned before the run, so new files in it cannot be detected");
  }

  // A symlink that was put back leads to what was not looked at yet.
  void clean(const Path& root, const WorkspaceFacts& before) {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      look_until_quiet(root, before);
      if (put_links_back(root, before) == 0) return;
    }
    remains(root, "has symlinks that were removed or replaced again and again");
  }

  // What one look has missed, because a program of the host exchanged a directory with something else meanwhile, the next
  // may see. So may what was hidden by what a look has taken away: a symlink that led elsewhere, or to something else.
  void look_until_quiet(const Path& root, const WorkspaceFacts& before) {
    constexpr int kTries = 10;
    constexpr int kMostInAll = 200;
    int idle = 0;
    for (int looks = 0; idle < kTries && looks < kMostInAll; ++looks) {
      const Looked looked = look(root, before);
      if (taken_.empty()) ++idle;
      else took_any_ = true;
      if (looked == Looked::quiet) return;
    }
    remains(root, "was changed by another program during each look: some guarded files may remain");
  }

  enum class Looked : std::uint8_t { quiet, disturbed };
  Looked look(const Path& root, const WorkspaceFacts& before) {
    WorkspaceFacts known = before;
    // The user may have set core.hooksPath or include.path during the run, to what the sandbox could write.
    appeared_ = named_now(trees_.names, before, trees_.served, trees_.roots, trees_.git_user);
    known.named.insert(known.named.end(), appeared_.begin(), appeared_.end());
    std::ranges::sort(known.named);
    gone_ = false;
    took_links_ = false;
    taken_.clear();
    const Result<SecondLook> now = inspect_again(
        root, trees_.names, known, trees_.roots,
        [&](DirectoryStack& directory, const std::string& name, const GuardedPath& found) {
          return spill(root, before, directory, name, found);
        },
        {.directory = trees_.indexes, .writing = TreeMemory::Writing::yes, .watch = trees_.watch});
    unload(root);
    if (!now) {
      remains(root, "could not be scanned: " + to_text(now.error()));
      return Looked::quiet;
    }
    report_.git.insert(report_.git.end(), now->git.begin(), now->git.end());
    now_ = &*now;
    new_ways_.reset();
    behind_new_ = false;
    for (const GuardedPath& found : now->guarded) {
      if (is_within(found.path, store_.directory())) continue;
      if (follows_new_link(found, root, before)) behind_new_ = true;
      else judge(root, before, found);
    }
    now_ = nullptr;
    new_ways_.reset();
    // Of several symlinks that lead to a path one is listed. Without the new ones it may be one of the user's.
    behind_new_ = behind_new_ && !taken_.empty();
    if (now->disturbed || gone_ || behind_new_ || took_links_) return Looked::disturbed;
    if (!taken_.empty()) return Looked::disturbed;
    if (now->complete) return Looked::quiet;
    note(root, "could not be scanned completely: some guarded files may remain");
    report_.complete = report_.complete && !before.complete && !now->stopped;
    return Looked::quiet;
  }

  void judge(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) {
    if (found.harmless) return judge_harmless(root, before, found);
    const bool by_contents = policy::guard_kind(found.guard) == policy::GuardKind::contents;
    const GuardedPath* old = find(found.path);
    const bool abandoned = std::ranges::binary_search(trees_.abandoned, found.path);
    if (old != nullptr && is_doubtful(found.path)) {
      // What another run's sandbox made is for that run to judge, as long as it can. What was done to it since is ours.
      if (!abandoned && same_object(found, *old) && found.changed == old->changed) return;
      if (by_contents || abandoned || !is_protected(found.path)) old = nullptr;
    }
    const Path base = base_of(root, before, found.path);
    const std::string_view relative = relative_to(found.path, base);
    if (by_contents) {
      const bool changed =
          old == nullptr || !same_object(found, *old) || found.changed != old->changed;
      if (is_checkout_pointer(found.guard) && changed && is_hosts_own(found)) return;
      auto danger = new_program(base, relative, found, old, before.started, trees_.roots);
      if (!danger && changed && may_still_change(base, relative, patience_)) danger = kMayChange;
      if (danger && move(root, before, found, *danger)) put_contents_back(base, relative, found);
      return;
    }
    if (!abandoned && is_served(found.path, found.guard, before)) {
      if (old == nullptr || !same_object(found, *old))
        return judge_served(root, before, found, old);
      // By another name of the same file it could be written.
      const bool kept = has_version(found.path) && (found.directory || old->links > 1);
      if (kept || (!has_version(found.path) && may_have_changed(found, before)))
        settle(root, before, found);
      return;
    }
    if (old == nullptr) {
      const bool appeared = has_appeared(found.path);
      // A link outside, too, is the user's own, and may be new.
      if (appeared || is_behind_link_outside(found)
              ? !may_have_changed_since(base, found, before.started)
              : !is_new(base, found, before))
        return;
      if (was_elsewhere(found) || take_links_to(root, before, found)) return;
      // A repository that was made inside stays usable if it runs nothing on the host.
      const std::optional<std::string> danger =
          appeared                          ? kNamedMeanwhile
          : is_included(found.path, before) ? ""
                                            : danger_at(base, relative, found, trees_.roots);
      if (danger && move(root, before, found, *danger)) put_settings_back(base, relative, found);
      return;
    }
    // A .git file that was harmless now leads elsewhere: something on its path was replaced.
    if (old->harmless && leads_as_before(found, *old, before)) return;
    if (old->harmless) return replaced(root, before, found);
    if (same_link(found, *old)) return;
    if (same_object(found, *old) && found.changed == old->changed) return;
    if (user_changed(found, *old)) return compare(found, *old);
    settle(root, before, found);
  }

  // A .git or commondir file that leads where it may. One that another sandbox holds open could lead elsewhere later.
  void judge_harmless(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) {
    const GuardedPath* const old = find(found.path);
    if (!found.link.empty() || found.directory) return;
    if (old != nullptr && same_object(found, *old) && found.changed == old->changed) return;
    const Path base = base_of(root, before, found.path);
    if (may_still_change(base, relative_to(found.path, base), patience_))
      move(root, before, found, kMayChange);
  }

  // New or replaced in a served directory: by the host, but perhaps with a file that the sandbox could write under the name
  // it had before.
  void judge_served(const Path& root, const WorkspaceFacts& before, const GuardedPath& found,
                    const GuardedPath* old) {
    if (!may_be_touched(found) || (old != nullptr && same_link(found, *old))) return;
    if (old != nullptr) return settle(root, before, found);
    move(root, before, found,
         "a program outside gave it this name, but the sandbox could write it before");
  }

  bool may_be_touched(const GuardedPath& found) const {
    constexpr std::size_t kMost = 2000;
    if (trees_.touched.may_have({found.device, found.inode, found.born})) return true;
    if (!found.directory) return false;
    const std::optional<std::vector<BornFile>> below = files_below(found.path, kMost);
    return !below || std::ranges::any_of(*below, [&](const BornFile& file) {
      return trees_.touched.may_have(file);
    });
  }

  // The user has moved a directory that contains it. From inside it could not be moved, nor changed in its new place: the
  // mount on it, or what serves it, moves along.
  bool was_elsewhere(const GuardedPath& found) const {
    const auto old = moved_.find({found.device, found.inode});
    return old != moved_.end() && same_object(found, *old->second) &&
           found.changed == old->second->changed && found.born != 0 &&
           (found.directory || found.links <= 1) && !is_doubtful(old->second->path) &&
           is_protected(old->second->path);
  }

  bool is_protected(const Path& path) const {
    return is_mounted(path) || std::ranges::any_of(trees_.served, [&](const GitDirectory& git) {
             return is_within(path, git.path);
           });
  }

  // The user has moved the repository or the checkout: the file is the same, and leads nowhere or where it did.
  static bool leads_as_before(const GuardedPath& found, const GuardedPath& old,
                              const WorkspaceFacts& before) {
    if (!same_object(found, old) || found.changed != old.changed) return false;
    const std::optional<std::string> text = read_small(AT_FDCWD, found.path);
    const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
    if (!target) return false;
    struct stat status{};
    const Path place = target->starts_with('/') ? *target : join(parent_of(found.path), *target);
    if (::lstat(place.c_str(), &status) < 0) return errno == ENOENT;
    return std::ranges::any_of(before.git, [&](const GitDirectory& git) {
      return git.device == status.st_dev && git.inode == status.st_ino;
    });
  }

  // It was in a directory of packages before, where its name did not count.
  bool was_packed(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) const {
    const policy::GuardKind kind = policy::guard_kind(found.guard);
    const Path above = parent_of(found.path);
    return (kind == policy::GuardKind::anywhere || kind == policy::GuardKind::file) &&
           found.through.empty() &&
           lies_in_packages(relative_to(above, base_of(root, before, found.path))) &&
           std::ranges::none_of(
               known_links_, [&](const PackageLink& link) { return covers(link, found.path); }) &&
           !may_have_changed_since(above, found, before.started);
  }

  // What packages have is left alone, and the new symlinks that make it count are moved: the sandbox may have chosen what
  // they lead to.
  bool take_links_to(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) {
    if (!was_packed(root, before, found)) return false;
    if (!new_ways_) new_ways_.emplace(now_->package_links, known_links_);
    const NewWays::Answer ways = new_ways_->to(found.path);
    for (const PackageLink& link : ways.links) {
      took_links_ = true;
      if (taken_.contains(link.path)) continue;
      move(root, before, {.path = link.path, .guard = found.guard, .link = link.text},
           "it leads to packages with " + printable(found.path));
    }
    return ways.any;
  }

  // Of a repository that an earlier sandbox made: without settings it would have no remotes.
  bool put_settings_back(const Path& base, std::string_view relative, const GuardedPath& found) {
    const Version* const old = find_version(trees_.versions, found.path);
    if (old == nullptr || is_doubtful(found.path) || !store_.put_back(base, relative, *old))
      return false;
    note(found.path, "is as it was before the run again");
    return true;
  }

  // Without its index git takes every file for deleted; without a "gitdir" it removes the worktree's git directory.
  void put_contents_back(const Path& base, std::string_view relative, const GuardedPath& found) {
    if (is_checkout_pointer(found.guard)) {
      const GuardedPath* const old = find(found.path);
      if (old == nullptr || !says_the_same(old->programs, found.programs))
        put_settings_back(base, relative, found);
      return;
    }
    if (!is_index(found.guard) || put_settings_back(base, relative, found)) return;
    note(found.path, "was moved away; \"git reset\" makes a new one from the last commit");
  }

  // After an incomplete first walk, "not seen before" proves nothing.
  static bool is_new(const Path& root, const GuardedPath& found, const WorkspaceFacts& before) {
    return before.complete || may_have_changed_since(root, found, before.started);
  }

  // By ctime: creating, linking or renaming sets it, and a program cannot choose it. Renaming a directory sets that of the
  // directory, not of what is in it.
  static bool may_have_changed_since(const Path& root, const GuardedPath& found,
                                     std::int64_t started) {
    if (found.changed >= started) return true;
    for (Path above = parent_of(found.path); above != root && is_within(above, root);
         above = parent_of(above)) {
      struct stat status{};
      if (::lstat(above.c_str(), &status) < 0) return true;
      if (std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec >= started)
        return true;
    }
    if (!found.directory) return false;
    const std::optional<Version> now =
        QuarantineStore::version(parent_of(found.path), name_of(found.path), found.path);
    return !now || now->changed >= started;
  }

  // Named by git's configuration since the run began.
  bool has_appeared(const Path& path) const {
    return std::ranges::any_of(appeared_, [&](const NamedPath& named) {
      // A relative one counts in every repository.
      return named.path.starts_with('/') ? is_within(path, normalize(named.path))
                                         : ("/" + path + "/").contains("/" + named.path + "/");
    });
  }

  // More guarded files than can be listed were made. They are gathered beside each other, by a rename each, and taken to
  // the store as one.
  Spilled spill(const Path& root, const WorkspaceFacts& before, DirectoryStack& directory,
                const std::string& name, const GuardedPath& found) {
    if (find(found.path) != nullptr || !is_new(base_of(root, before, found.path), found, before) ||
        was_packed(root, before, found) || is_within(found.path, store_.directory()))
      return Spilled::left;
    directory.make_writable();
    const Result<Path> gathered =
        heap_.add(base_of(root, before, found.path), EntryName{directory.fd(), name});
    if (!gathered) {
      remains(found.path, "is still there: " + to_text(gathered.error()));
      return Spilled::taken;
    }
    list(Quarantined{.path = found.path, .moved_to = *gathered, .guard = found.guard});
    return Spilled::taken;
  }

  void unload(const Path& root) {
    for (const Path& heap : heap_.take()) {
      const Path base = parent_of(heap);
      const Result<Path> moved = store_.take(base, name_of(heap));
      const std::string count = std::to_string(report_.total);
      if (moved) {
        for (Quarantined& item : report_.moved)
          if (is_within(item.moved_to, heap))
            item.moved_to = join(*moved, relative_to(item.moved_to, heap));
        note(root, "has many new guarded files (" + count + "): most are in " + *moved +
                       " without their directories");
      } else {
        remains(heap, "holds new guarded files and could not be moved to the quarantine: " +
                          to_text(moved.error()));
      }
    }
  }

  // A file that the user's own configuration includes belongs to a repository that was there before.
  static bool is_included(const Path& path, const WorkspaceFacts& before) {
    return std::ranges::any_of(before.named, [&](const NamedPath& named) {
      return named.guard == ".git/config" && normalize(named.path) == path;
    });
  }

  // The target of a new symlink stays where it is: only the symlink is moved.
  bool follows_new_link(const GuardedPath& found, const Path& root,
                        const WorkspaceFacts& before) const {
    if (found.through.empty() || is_outside(found.through)) return false;
    const GuardedPath* const link = find_now(found.through);
    const GuardedPath* const old = find(found.through);
    // A link in a guarded directory is not listed itself.
    if (old == nullptr && lies_in_known(found.through)) return false;
    if (old != nullptr || link == nullptr || !is_behind_link_outside(*link))
      return old == nullptr || link == nullptr || link->link != old->link;
    return may_have_changed_since(base_of(root, before, link->path), *link, before.started);
  }

  const GuardedPath* find_now(const Path& path) const {
    const auto found = std::ranges::lower_bound(now_->guarded, path, {}, &GuardedPath::path);
    return found != now_->guarded.end() && found->path == path ? &*found : nullptr;
  }

  // Through a link that the sandbox could not make, and perhaps others that it leads to.
  bool is_behind_link_outside(const GuardedPath& found) const {
    constexpr int kMostLinks = 40;
    const GuardedPath* link = &found;
    for (int count = 0; count <= kMostLinks && link != nullptr; ++count) {
      if (link->through.empty()) return false;
      if (is_outside(link->through)) return true;
      link = find_now(link->through);
    }
    return false;
  }

  bool is_outside(const Path& path) const {
    return tree_of(path, trees_.roots) == nullptr && tree_of(path, now_->outside_git) == nullptr;
  }

  bool lies_in_known(Path path) const {
    for (path = parent_of(path); path.size() > 1; path = parent_of(path))
      if (find(path) != nullptr) return true;
    return false;
  }

  // Whether it is one of the names that are read-only in a served git directory: what is new or changed there is the
  // user's own. Not if the directory is another one now, which was not served.
  bool is_served(const Path& path, const std::string& guard, const WorkspaceFacts& before) const {
    return std::ranges::any_of(trees_.served, [&](const GitDirectory& git) {
      if (!is_within(path, git.path) || !is_same_directory(git)) return false;
      const std::string_view relative = relative_to(path, git.path);
      return find(path) != nullptr || relative == "commondir" ||
             ".git/" + folded(relative) == guard ||
             std::ranges::any_of(before.named, [&](const NamedPath& named) {
               return is_within(path, normalize(named.path));
             });
    });
  }

  // `git worktree add` of the host, during the run: the sandbox could not write the file under any name.
  bool is_hosts_own(const GuardedPath& found) const {
    return !found.directory && found.links <= 1 && !is_doubtful(found.path) &&
           !may_be_touched(found) &&
           std::ranges::any_of(trees_.served, [&](const GitDirectory& git) {
             return is_within(found.path, git.path) && is_same_directory(git);
           });
  }

  static bool is_same_directory(const GitDirectory& git) {
    struct stat status{};
    return ::lstat(git.path.c_str(), &status) == 0 && status.st_dev == git.device &&
           status.st_ino == git.inode;
  }

  // Whether only programs outside can have changed a known path.
  bool user_changed(const GuardedPath& found, const GuardedPath& old) const {
    if (!found.directory && (found.links > 1 || old.links > 1)) return false;
    for (Path path = found.path; path.size() > 1; path = parent_of(path)) {
      const auto mount = mounted_.find(path);
      if (mount == mounted_.end()) continue;
      if (contains(trees_.gaps, path)) return false;
      // Nothing is left to ask. An object that is still the same was under its mount, unless it had two names.
      if (trees_.view.root < 0 || mount->second.empty()) return same_object(found, old);
      return is_out_of_reach(trees_.view, join(mount->second, relative_to(found.path, path)),
                             found);
    }
    return false;
  }

  // Of what was not kept: whether something in it that has other names was changed during the run.
  static bool may_have_changed(const GuardedPath& found, const WorkspaceFacts& before) {
    if (!has_other_names(found.path)) return false;
    const std::optional<Version> now =
        QuarantineStore::version(parent_of(found.path), name_of(found.path), found.path);
    return !now || now->changed >= before.started;
  }

  bool is_doubtful(const Path& path) const {
    return std::ranges::binary_search(trees_.doubtful, path);
  }

  bool is_mounted(Path path) const {
    while (path.size() > 1 && !mounted_.contains(path)) path = parent_of(path);
    return path.size() > 1;
  }

  bool has_version(const Path& path) const {
    return find_version(trees_.versions, path) != nullptr;
  }

  // The sandbox could write it. It stays if it is the same, or if the difference makes no program do anything.
  void settle(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) {
    const Version* const old = find_version(trees_.versions, found.path);
    if (old == nullptr) return replaced(root, before, found);
    const Path base = base_of(root, before, found.path);
    const std::string_view relative = relative_to(found.path, base);
    const std::optional<Version> now = QuarantineStore::version(base, relative, found.path);
    const bool doubtful = is_doubtful(found.path);
    if (now && !doubtful && now->entries == old->entries) return;
    if (now && !doubtful && is_harmless_change(found.guard, *old, *now))
      return note(found.path,
                  "changed during the run although guarded; the settings that differ "
                  "run no program, so it stays");
    // Another run that ended meanwhile has undone what its sandbox wrote: our version may be that.
    const std::optional<Version> undone = store_.last_put_back(found.path, before.started);
    if (now && undone && undone->entries == now->entries) return;
    if (!move(root, before, found)) return;
    if (doubtful && !undone) return keep(*old);
    const Result<void> back = store_.put_back(base, relative, doubtful ? *undone : *old);
    note(found.path,
         back ? "was replaced or changed by its other names during the run, so that the sandbox "
                "could write it: what it contained then is in the quarantine, and its version from "
                "before the run was put back"
              : "could not be put back as it was before the run: " + to_text(back.error()));
  }

  void keep(const Version& old) {
    const Result<Path> kept = store_.keep(old);
    note(old.path,
         "was changed during the run although guarded, and is in the quarantine. Its version from "
         "before the run was not put back, because another run could have written that: " +
             (kept ? "it is " + *kept : to_text(kept.error())));
  }

  void replaced(const Path& root, const WorkspaceFacts& before, const GuardedPath& found) {
    const GuardedPath* const old = find(found.path);
    if (move(root, before, found) && old->link.empty())
      note(found.path, "was changed or replaced during the run although it was guarded");
  }

  // False when it is gone already, or still there.
  bool move(const Path& root, const WorkspaceFacts& before, const GuardedPath& found,
            const std::string& problem = {}) {
    const Path base = base_of(root, before, found.path);
    const std::string_view relative = relative_to(found.path, base);
    Result<Path> moved = store_.take(base, relative);
    if (!moved) {
      // It was moved with a parent directory or by a concurrent run of coop, or its directory is elsewhere at the moment.
      if (QuarantineStore::is_gone(base, relative)) {
        gone_ = gone_ || !was_taken_with(found.path);
        return false;
      }
      note(found.path, "could not be moved to the quarantine: " + to_text(moved.error()));
      moved = QuarantineStore::set_aside(base, relative);
      if (!moved) {
        remains(found.path, "is still there: " + to_text(moved.error()));
        return false;
      }
    }
    taken_.insert(found.path);
    list(Quarantined{
        .path = found.path, .moved_to = *moved, .guard = found.guard, .problem = problem});
    return true;
  }

  bool was_taken_with(Path path) const {
    while (path.size() > 1 && !taken_.contains(path)) path = parent_of(path);
    return path.size() > 1;
  }

  void list(Quarantined moved) {
    ++report_.total;
    if (report_.moved.size() < kMostListed) report_.moved.push_back(std::move(moved));
  }

  void remains(const Path& path, const std::string& text) {
    report_.complete = false;
    note(path, text);
  }

  void compare(const GuardedPath& found, const GuardedPath& old) {
    if (found.directory || found.changed == old.changed) return;
    const bool shared = found.links > 1 || old.links > 1;
    note(found.path, shared ? "changed during the run although guarded: it has other hard links"
                            : "changed during the run although guarded: by a program outside");
  }

  // A guarded symlink could not be pinned. Restore it if it is missing or was replaced.
  std::size_t put_links_back(const Path& root, const WorkspaceFacts& before) {
    std::size_t count = 0;
    for (const GuardedPath& old : before.guarded) {
      if (old.link.empty() || is_doubtful(old.path) || is_served(old.path, old.guard, before))
        continue;
      const Path base = base_of(root, before, old.path);
      const Result<void> made =
          QuarantineStore::make_link(base, relative_to(old.path, base), old.link);
      if (!made) continue;
      note(old.path, "was removed or replaced during the run: the symlink was put back");
      ++count;
    }
    return count;
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
    const std::string whole = printable(path + " " + text);
    if (std::ranges::find(report_.notes, whole) != report_.notes.end()) return;  // another round
    if (report_.notes.size() < kMostNotes) {
      report_.notes.push_back(whole);
    } else {
      ++notes_left_out_;
    }
  }

  WatchedTrees trees_;
  const std::vector<WorkspaceFacts>& before_;
  QuarantineStore store_;
  Heap heap_{};
  std::map<Path, Path> mounted_{};  // and where inside
  std::map<std::string_view, const GuardedPath*> known_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, const GuardedPath*> moved_{};  // by inode
  QuarantineReport report_{};
  std::chrono::milliseconds patience_{1000};  // in all
  std::size_t notes_left_out_ = 0;
  std::set<Path> taken_{};                  // by the present look
  bool behind_new_ = false;                 // something is behind a link that was taken away
  const WorkspaceFacts* now_ = nullptr;     // what the present look has seen
  std::vector<PackageLink> known_links_{};  // sorted by path
  std::optional<NewWays> new_ways_{};       // of the present look
  bool took_any_ = false;                   // in the present round
  bool took_links_ = false;                 // the present look has moved some
  bool gone_ = false;  // something that the present look has seen was not there to be taken
  std::vector<NamedPath> appeared_{};  // of the tree that is looked through
};

}  // namespace

QuarantineReport quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
                            const Path& directory) {
  return Quarantine(trees, before, directory).run();
}

}  // namespace coop::guards
