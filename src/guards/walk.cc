#include "guards/walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <span>
#include <tuple>

#include "base/path.h"
#include "guards/git/directory.h"
#include "guards/git/judge.h"
#include "guards/git/outside.h"
#include "guards/trail.h"
#include "policy/builtin.h"

namespace coop::guards {

namespace {

// No system call takes a path this long. Guarded paths further down are not listed individually:
// each would cost a walk down to it, and a run could leave hours of work.
constexpr std::size_t kLongestPath = 16384;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

GuardedPath make_fact(const Path& path, const std::string& guard, const struct stat& status,
                      std::int64_t born) {
  return GuardedPath{.path = path,
                     .guard = guard,
                     .device = status.st_dev,
                     .inode = status.st_ino,
                     .born = born,
                     .changed = nanoseconds(status.st_ctim),
                     .links = status.st_nlink,
                     .directory = S_ISDIR(status.st_mode)};
}

unsigned char type_of(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

// Whether a directory that we cannot read may contain something new. Our own directories have been
// made readable: this is about those of other users.
bool may_hide_something(int parent, const std::string& name) {
  return ::faccessat(parent, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

GuardedPath fact_of(const TrailLink& link, const std::string& guard) {
  GuardedPath found = make_fact(link.path, guard, link.status, link.born);
  found.link = link.text;
  return found;
}

// It is in the guarded directory that the link is in.
bool is_behind(const Path& path, const GuardedPath& link) {
  return !link.through.empty() && is_within(path, link.through);
}

// The directories above may be unreadable as well.
Result<DirectoryStack> open_within(const Path& directory, std::span<const Path> trees) {
  Result<DirectoryStack> opened = DirectoryStack::open(directory);
  const Path* const tree = tree_of(directory, trees);
  if (opened || opened.error().errno_value != EACCES || tree == nullptr) return opened;
  DirectoryStack below = TRY(DirectoryStack::open(*tree));
  TRY(below.enter_all(relative_to(directory, *tree)));
  return below;
}

// Where a directory of an index may be plain: elsewhere git directories are recognised by what is around them.
bool may_be_plain(Place place) { return place == Place::ordinary || place == Place::packages; }

}  // namespace

std::int64_t file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds(now);
}

Result<void> GuardWalk::tree(const Path& root, const TreeMemory& memory) {
  if (memory.directory.empty()) return walk(root, Place::top, Reach::everything);
  DirectoryStack directory = TRY(DirectoryStack::open(root));
  const IndexPlace place{memory.directory, root, names_.interesting_key()};
  TreeIndex known =
      memory.watch != nullptr ? memory.watch->recall(place, directory.fd()) : TreeIndex();
  if (known.size() == 0) known = TreeIndex::read(place, directory.fd());
  memory_ = std::make_unique<Memory>(std::move(known), memory);
  Result<void> walked = walk(directory, root, Place::top, Reach::everything);
  const bool whole = walked && stop() == Stop::none;
  if (whole && memory.writing == TreeMemory::Writing::yes)
    memory_->next.save(place, directory.fd());
  if (whole && memory.watch != nullptr && memory.learning == TreeMemory::Learning::yes)
    memory.watch->learn(place, directory.fd(), std::move(memory_->next).take());
  memory_.reset();
  return walked;
}

Result<void> GuardWalk::git_directory(const Path& path) {
  git_directories_.insert(path);
  return walk(path, Place::dot_git, Reach::git_structure);
}

Result<void> GuardWalk::subtree(const Path& top, Place place, Reach reach) {
  return walk(top, place, reach);
}

// Depth first with an explicit stack: the sandbox chooses the depth of the tree.
Result<void> GuardWalk::walk(const Path& top, Place place, Reach reach) {
  DirectoryStack directory = TRY(DirectoryStack::open(top));
  return walk(directory, top, place, reach);
}

Result<void> GuardWalk::walk(DirectoryStack& directory, const Path& top, Place place, Reach reach) {
  directory_ = &directory;
  path_ = top;
  top_depth_ = depth_of(top);
  reach_ = reach;
  std::vector<Level> levels;
  levels.push_back(Level{.standing = {place}, .path_length = top.size()});
  if (memory_ && memory_->known.size() > 0) levels.back().known = 0;
  enter_index(levels.back(), {});
  look(levels.back());
  while (!levels.empty() && !stopped()) {
    if (std::optional<Level> below = descend(levels.back())) {
      look(*below);
      levels.push_back(std::move(*below));
      continue;
    }
    if (!levels.back().missed.empty()) look_for_missed(levels.back());
    path_.resize(levels.back().path_length);
    leave_index(levels.back());
    levels.pop_back();
    if (!levels.empty() && !directory.leave()) give_up(Stop::disturbed);
  }
  directory_ = nullptr;
  return {};
}

// Enters the next relevant directory; nothing when none is left.
std::optional<GuardWalk::Level> GuardWalk::descend(Level& level) {
  while (level.next < level.pending.size()) {
    const std::string name(level.pending.c_str() + level.next);
    level.next += name.size() + 1;
    const std::uint64_t inode = level.inodes[level.entered++];
    const std::optional<Place> place = place_below(level.standing, folded(name), reach_);
    if (!place || skip(level, name, *place)) continue;
    if (const Result<void> entered = directory_->enter(name); !entered) {
      cannot_enter(name, entered.error().errno_value);
      if (entered.error().errno_value == ENOENT) level.missed.push_back(inode);
      if (memory_) memory_->next.not_plain(level.row);
      continue;
    }
    Level below{.standing = {*place}, .path_length = path_.size()};
    if (const auto row = level.rows_below.find(name); row != level.rows_below.end())
      below.known = row->second;
    if (!path_.ends_with('/')) path_ += '/';
    path_ += name;
    enter_index(below, name);
    return below;
  }
  return std::nullopt;
}

// Before the directory is listed: what changes while it is listed moves its ctime beyond this state.
void GuardWalk::enter_index(Level& level, std::string_view name) {
  if (!memory_) return;
  level.row = memory_->next.open(name, directory_state(directory_->fd()).value_or(DirectoryState{}),
                                 static_cast<std::uint16_t>(level.standing.place));
  if (level.known == TreeIndex::kNone) return;
  const TreeIndex& known = memory_->known;
  known.for_each_child(level.known, [&](std::uint32_t child) {
    level.rows_below.emplace(known.name(child), child);
  });
}

void GuardWalk::leave_index(const Level& level) {
  if (memory_ && level.row != TreeIndex::kNone) memory_->next.close();
}

// A directory in which, and below which, nothing has changed. With another place above it other names would count. Another
// directory may have taken its name since they were compared.
bool GuardWalk::skip(const Level& level, const std::string& name, Place place) {
  const auto found = level.rows_below.find(name);
  if (found == level.rows_below.end() || !may_be_plain(place)) return false;
  const TreeIndex& known = memory_->known;
  if (!known.is_settled(found->second) ||
      known.row(found->second).kind != static_cast<std::uint16_t>(place))
    return false;
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0 ||
      status.st_ino != known.row(found->second).inode ||
      status.st_dev != directory_->status().st_dev)
    return false;
  memory_->next.copy(found->second);
  return true;
}

// Whether what the index says of the directory is still true. It is compared once more, by its descriptor: the first time
// was by path.
bool GuardWalk::is_known(const Level& level) const {
  if (level.known == TreeIndex::kNone || !may_be_plain(level.standing.place)) return false;
  const TreeIndex& known = memory_->known;
  const IndexRow& row = known.row(level.known);
  return known.is_unchanged(level.known) &&
         row.kind == static_cast<std::uint16_t>(level.standing.place) &&
         memory_->next.has_state(level.row, row);
}

void GuardWalk::look_in_index(Level& level) {
  memory_->next.still_plain(level.row);
  const TreeIndex& known = memory_->known;
  level.listed = file_clock();
  known.for_each_child(level.known, [&](std::uint32_t child) {
    level.pending.append(known.name(child)) += '\0';
    level.inodes.push_back(known.row(child).inode);
  });
}

// Programs remove directories all the time. But what was listed as a directory and is none now may be one again in a moment,
// with all that is in it: a program that exchanges the two again and again would hide it from every look.
void GuardWalk::cannot_enter(const std::string& name, int error) {
  if (error == ENOENT) return;
  if (error == ENOTDIR || error == ELOOP) return disturbed();
  if (error != EACCES || may_hide_something(directory_->fd(), name)) complete_ = false;
}

// The kernel lists nothing in a directory that has been removed since it was opened: nothing is in it.
void GuardWalk::cannot_list(const Error& error) {
  if (error.errno_value != ENOENT) complete_ = false;
}

// Directories that were gone when they should be entered: were they removed, or do they have another name here? ext4 gives
// the inode of a removed one to the next that is made.
void GuardWalk::look_for_missed(const Level& level) {
  if (::lseek(directory_->fd(), 0, SEEK_SET) < 0) return disturbed();
  const std::set<std::uint64_t> missed(level.missed.begin(), level.missed.end());
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_,
                     [&](std::string_view name, unsigned char type, std::uint64_t inode) {
                       if ((type != DT_DIR && type != DT_UNKNOWN) || !missed.contains(inode))
                         return Next::go_on;
                       if (born_at(directory_->fd(), name.data()) <= level.listed) disturbed();
                       return Next::go_on;
                     });
  if (!read) cannot_list(read.error());
}

Sight GuardWalk::read_entries(Level& level, std::vector<std::string>& links) {
  Sight sight;
  if (appearing_) sight.push_back(*std::exchange(appearing_, std::nullopt));
  const std::string passed_over = std::exchange(passed_over_, {});
  level.listed = file_clock();
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_,
                     [&](std::string_view name, unsigned char type, std::uint64_t inode) {
                       if (++entries_ > limits_.entries) {
                         give_up(Stop::too_large);
                         return Next::stop;
                       }
                       if (name == passed_over) return Next::go_on;
                       if (type == DT_UNKNOWN) type = type_of(directory_->fd(), name.data());
                       if (type == DT_DIR) {
                         level.pending.append(name) += '\0';
                         level.inodes.push_back(inode);
                       }
                       if (names_.interesting(name))
                         sight.push_back({std::string(name), folded(name), type});
                       if (type == DT_LNK && names_.git_file()) links.emplace_back(name);
                       return Next::go_on;
                     });
  if (!read) cannot_list(read.error());
  return sight;
}

void GuardWalk::look(Level& level) {
  if (is_known(level)) return look_in_index(level);
  std::vector<std::string> links;
  const Sight sight = read_entries(level, links);
  level.standing = standing_of(level.standing.place, sight);
  const Standing& standing = level.standing;
  if (memory_ && sight.empty() && may_be_plain(standing.place)) memory_->next.plain(level.row);
  if (!sight.empty())
    for_each_guard(names_, standing, sight, [&](const Guard& guard) { match(guard, sight); });
  if (standing.git) look_in_git(level, sight);
  for (const Seen& seen : sight)
    if (seen.folded == ".git") look_at_git_file(seen);
  // git follows a symlink in place of a submodule's git directory to settings we never see.
  if (standing.git || standing.is_git_place() || standing.holds_git_directories())
    for (const std::string& name : links) add_git_link(name, path_);
}

// git writes through symlinks: with "logs/HEAD -> ~/.bashrc" every commit adds a line there. It makes one itself only as
// an old form of HEAD.
void GuardWalk::add_git_link(const std::string& name, const Path& above) {
  if (name != "HEAD" || !read_link(directory_->fd(), name).starts_with("refs/"))
    add(name, join(above, name), ".git", {});
}

// In one directory of a git directory, and below.
void GuardWalk::find_git_links(const std::string& name, const Path& above, std::size_t levels,
                               Deeper levels_end) {
  const Result<void> entered = directory_->enter(name);
  if (!entered) return cannot_enter(name, entered.error().errno_value);
  const Path path = join(above, name);
  std::vector<std::string> below;
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (++entries_ > limits_.entries) {
          give_up(Stop::too_large);
          return Next::stop;
        }
        if (type == DT_UNKNOWN) type = type_of(directory_->fd(), entry.data());
        if (type == DT_LNK || type == DT_DIR)
          below.push_back((type == DT_LNK ? "l" : "d") + std::string(entry));
        return Next::go_on;
      });
  if (!read) cannot_list(read.error());
  for (const std::string& entry : below) {
    if (stopped()) break;
    if (entry.starts_with('l')) add_git_link(entry.substr(1), path);
    else if (levels > 0) find_git_links(entry.substr(1), path, levels - 1, levels_end);
    else if (levels_end == Deeper::guarded)
      add(entry.substr(1), join(path, entry.substr(1)), ".git", {});
  }
  if (!directory_->leave()) give_up(Stop::disturbed);
}

std::vector<std::string> GuardWalk::directories_here() {
  std::vector<std::string> names;
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (++entries_ > limits_.entries) {
          give_up(Stop::too_large);
          return Next::stop;
        }
        if (type == DT_UNKNOWN) type = type_of(directory_->fd(), entry.data());
        if (type == DT_DIR) names.emplace_back(entry);
        return Next::go_on;
      });
  if (!read) cannot_list(read.error());
  return names;
}

// git writes to files in all of these, through symlinks too. In objects, lfs and annex only in directories near the top:
// what lies below is large.
void GuardWalk::look_for_links(const Level& level) {
  constexpr std::size_t kDeepest = 64;  // of the names of branches
  for (std::size_t at = 0; at < level.pending.size() && !stopped();) {
    const std::string name(level.pending.c_str() + at);
    at += name.size() + 1;
    const std::string whole = folded(name);
    if (whole == "modules" || whole == "worktrees" || whole == "hooks") continue;
    const bool large = whole == "objects" || whole == "lfs" || whole == "annex";
    find_git_links(name, path_, large ? 0 : kDeepest, large ? Deeper::ignored : Deeper::guarded);
    if (!large) continue;
    if (const Result<void> entered = directory_->enter(name); !entered) {
      cannot_enter(name, entered.error().errno_value);
      continue;
    }
    if (whole == "objects") {
      for (const char* const below : {"info", "pack"})
        find_git_links(below, join(path_, name), 1, Deeper::ignored);
    } else {
      // git-lfs and git-annex make directories objects/ab/cd, and keep little elsewhere.
      for (const std::string& below : directories_here())
        find_git_links(below, join(path_, name), folded(below) == "objects" ? 1 : kDeepest,
                       Deeper::ignored);
    }
    if (!directory_->leave()) give_up(Stop::disturbed);
  }
}

void GuardWalk::look_in_git(const Level& level, const Sight& sight) {
  const Standing& standing = level.standing;
  const bool known_place = standing.place == Place::module || standing.place == Place::worktree;
  if (path_.size() < PATH_MAX && path_bytes_ <= limits_.path_bytes) {
    count_path(path_);
    if (known_place) git_directories_.insert(path_);
    struct stat status{};
    if (::fstat(directory_->fd(), &status) == 0)
      git_.insert({path_, status.st_dev, status.st_ino, born_at(directory_->fd(), "")});
  }
  const bool configured = has(sight, "config") || has(sight, "config.worktree");
  if (git_names_ != nullptr && configured && path_.size() < PATH_MAX)
    git_names_->repository(directory_->fd(), path_);
  if (!names_.git_file()) return;
  look_for_links(level);
  for (const Seen& seen : sight) {
    // A commondir file redirects git to another directory for config and hooks, which need not look
    // like a git directory. In a worktree's it leads back to the repository; elsewhere it is
    // suspicious.
    if (seen.folded == "commondir") find_git_pointer(seen.name, standing.place);
  }
}

void GuardWalk::look_at_git_file(const Seen& seen) {
  const std::string& name = seen.name;
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  // Listed as something else, it is not entered; listed as a directory, it may be one again when it is.
  if (S_ISDIR(status.st_mode) != (seen.type == DT_DIR)) disturbed();
  if (S_ISDIR(status.st_mode)) return;
  if (names_.git_file()) find_git_pointer(name, Place::ordinary);
  if (git_names_ == nullptr || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), name);
  const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
  git_names_->checkout(path_, target.value_or(".git"));
}

// A .git or commondir file, or any other entry with that name.
void GuardWalk::find_git_pointer(const std::string& name, Place place) {
  const std::size_t index = guarded_.size();
  add(name, join(path_, name), ".git", {});
  if (guarded_.size() == index || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), name);
  if (!text) return;
  if (folded(name) == ".git") {
    const std::optional<std::string> target = parse_gitfile(*text);
    const std::optional<Path> leads = target ? resolve_plainly(*target, path_) : std::nullopt;
    if (leads) git_files_.emplace_back(index, *leads);
  } else if (place == Place::worktree) {
    const std::optional<std::string> target = parse_pointer(*text);
    guarded_[index].harmless =
        target && resolve_plainly(*target, path_) == parent_of(parent_of(path_));
  }
}

void GuardWalk::match(const Guard& guard, const Sight& sight) {
  for (const Seen& seen : sight)
    if (is_component(seen.folded, guard.folded.front())) follow(guard, 0, seen.name, path_);
}

// Follows a guard's name from the current directory on. A symlink on the way is guarded in its place:
// with ".claude -> x" the host would obey x/settings.json.
void GuardWalk::follow(const Guard& guard, std::size_t index, const std::string& name,
                       const Path& above) {
  const Path path = join(above, name);
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  const bool last = index + 1 == guard.parts.size();
  if (last && guard.only_file && S_ISDIR(status.st_mode)) return;
  if (last || S_ISLNK(status.st_mode)) {
    std::string rest;
    for (const std::string_view part : guard.parts.subspan(index + 1))
      rest.append("/").append(part);
    return add(name, path, std::string(guard.name), rest);
  }
  if (!S_ISDIR(status.st_mode)) return;
  if (const Result<void> below = directory_->enter(name); !below)
    return cannot_enter(name, below.error().errno_value);
  for (const std::string& next : names_like(guard.folded[index + 1]))
    follow(guard, index + 1, next, path);
  if (!directory_->leave()) give_up(Stop::disturbed);
}

std::vector<std::string> GuardWalk::names_like(std::string_view folded_name) {
  std::vector<std::string> names;
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_, [&](std::string_view name, unsigned char) {
        if (folded(name) == folded_name) names.emplace_back(name);
        return Next::go_on;
      });
  if (!read) cannot_list(read.error());
  return names;
}

void GuardWalk::add(const std::string& name, const Path& path, const std::string& guard,
                    std::string_view rest) {
  const bool overflows = spill_ && path_bytes_ > limits_.path_bytes;
  if (path.size() > kLongestPath && !overflows) return add_ancestor(path, guard);
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  GuardedPath found = make_fact(path, guard, status, born_at(directory_->fd(), name.c_str()));
  if (S_ISLNK(status.st_mode)) found.link = read_link(directory_->fd(), name);
  if (overflows && spill_(*directory_, name, found) == Spilled::taken) return;
  if (policy::guard_kind(guard) == policy::GuardKind::contents)
    found.programs = programs_in(directory_->fd(), name, guard).value_or(found.programs);
  keep(found);
  if (S_ISLNK(status.st_mode) && guard != ".git") add_behind_link(found, rest);
  if (S_ISDIR(status.st_mode)) follow_links_in(path, found);
}

// "hooks/pre-commit -> ../../scripts/pre-commit": the host runs what it leads to. A directory that two symlinks lead to is
// looked through once.
void GuardWalk::follow_links_in(const Path& directory, const GuardedPath& guarded) {
  if (!followed_in_.insert(directory).second) return;
  Result<DirectoryStack> opened = open_within(directory, writable_);
  if (!opened && (opened.error().errno_value == ENOTDIR || opened.error().errno_value == ELOOP))
    return disturbed();
  if (opened) follow_links_below(*opened, directory, guarded);
}

// No call takes a path as long as PATH_MAX; what lies below cannot be changed in a guarded directory that exists, and a
// new one is moved as a whole.
void GuardWalk::follow_links_below(DirectoryStack& at, const Path& path,
                                   const GuardedPath& guarded) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> links;
  std::vector<std::string> below;
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(at.fd(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (++entries_ > limits_.entries) return Next::stop;
        if (type == DT_UNKNOWN) type = type_of(at.fd(), entry.data());
        if (type == DT_LNK) links.emplace_back(entry);
        if (type == DT_DIR && path.size() + entry.size() + 1 < PATH_MAX) below.emplace_back(entry);
        return links.size() < kMost ? Next::go_on : Next::stop;
      });
  if (links.size() >= kMost || entries_ > limits_.entries) return give_up(Stop::too_large);
  for (const std::string& name : links) {
    if (stopped()) return;
    GuardedPath inside = guarded;
    inside.path = join(path, name);
    inside.through = guarded.path;
    add_behind_link(inside, {});
  }
  for (const std::string& name : below) {
    if (stopped()) return;
    Path inside = join(path, name);
    if (!followed_in_.insert(inside).second) continue;
    const Result<void> entered = at.enter(name);
    if (!entered) {
      if (entered.error().errno_value == ENOTDIR || entered.error().errno_value == ELOOP)
        disturbed();
      continue;
    }
    follow_links_below(at, inside, guarded);
    if (!at.leave()) return disturbed();
  }
}

// Lists the deepest parent of `path` that can still be listed.
void GuardWalk::add_ancestor(const Path& path, const std::string& guard) {
  const Path ancestor = path.substr(0, path.rfind('/', kLongestPath));
  if (!guarded_.empty() && guarded_.back().path == ancestor) return;
  const std::size_t depth = depth_of(ancestor) - top_depth_;
  keep(make_fact(ancestor, guard, directory_->status_at(depth), 0));
}

// A symlink cannot be a mount point. Its target can, if it is in a writable tree; so are the symlinks on the way there, which
// are put back at the end. Each counts as reached through the one before: where a new one leads is of no interest.
void GuardWalk::add_behind_link(const GuardedPath& link, std::string_view rest) {
  constexpr std::size_t kMost = 20'000;
  // Ending in silence would leave the targets of the user's own links unguarded: another sandbox can make thousands.
  if (++followed_ > kMost) return give_up(Stop::too_large);
  const Trail trail = follow_trail(link.path + std::string(rest), writable_, &trails_);
  Path through = link.path;
  for (const TrailLink& next : trail.links) {
    const bool known = next.path == link.path || is_behind(next.path, link);
    if (known || tree_of(next.path, writable_) == nullptr) continue;
    GuardedPath found = fact_of(next, link.guard);
    found.through = std::exchange(through, next.path);
    keep(std::move(found));
  }
  if (trail.place.empty() || !trail.status || is_within(link.path, trail.place)) return;
  if (is_behind(trail.place, link)) return;
  GuardedPath found = make_fact(trail.place, link.guard, *trail.status, trail.born);
  found.through = through;
  if (tree_of(trail.place, writable_) == nullptr) return follow_links_outside(found);
  const GuardedPath kept = found;
  keep(std::move(found));
  if (kept.directory) follow_links_in(trail.place, kept);
}

// The symlinks on the path are guarded themselves: they cannot be mount points, and with another
// target git would obey another file.
void GuardWalk::named(const NamedPath& name) {
  const Trail trail = follow_trail(name.path, writable_, &trails_);
  Path through;
  for (const TrailLink& link : trail.links) {
    if (tree_of(link.path, writable_) == nullptr) continue;
    GuardedPath found = fact_of(link, name.guard);
    through = link.path;
    keep(std::move(found));
  }
  if (!trail.status) return;
  GuardedPath found = make_fact(trail.place, name.guard, *trail.status, trail.born);
  if (tree_of(trail.place, writable_) == nullptr) return follow_links_outside(found);
  // Making it read-only would affect a whole tree. And git reads no directory as a file.
  if (holds_a_tree(trail.place, writable_)) return;
  if (name.guard == ".git/config" && S_ISDIR(trail.status->st_mode)) return;
  found.through = through;
  const GuardedPath kept = found;
  keep(std::move(found));
  if (kept.directory) follow_links_in(trail.place, kept);
}

// A directory of hooks that cannot be changed inside, but perhaps what its links lead to: "~/hooks/pre-commit ->
// ~/work/scripts/check". Its mode stays as it is: settings that a sandbox has written may name any directory.
void GuardWalk::follow_links_outside(const GuardedPath& directory) {
  constexpr std::size_t kMost = 1000;
  if (!directory.directory || directory.guard != ".git/hooks") return;
  const Result<UniqueFd> opened =
      open_file(directory.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  if (!opened) return;
  std::vector<std::string> links;
  const std::unique_ptr<EntryBuffer> buffer = make_entry_buffer();
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(opened->get(), *buffer, [&](std::string_view entry, unsigned char type) {
        if (type == DT_UNKNOWN) type = type_of(opened->get(), entry.data());
        if (type == DT_LNK) links.emplace_back(entry);
        return links.size() < kMost ? Next::go_on : Next::stop;
      });
  if (links.size() >= kMost) return give_up(Stop::too_large);
  for (const std::string& name : links) {
    GuardedPath link = directory;
    link.path = join(directory.path, name);
    link.through = directory.path;
    add_behind_link(link, {});
  }
}

void GuardWalk::keep(GuardedPath found) {
  count_path(found.path);
  guarded_.push_back(std::move(found));
}

void GuardWalk::count_path(const Path& path) {
  path_bytes_ += path.size();
  if (path_bytes_ > limits_.path_bytes && !spill_) give_up(Stop::too_large);
}

std::vector<GitDirectory> GuardWalk::take_git() { return {git_.begin(), git_.end()}; }

std::vector<GuardedPath> GuardWalk::take_guarded() {
  for (const auto& [index, leads] : git_files_)
    guarded_[index].harmless = git_directories_.contains(leads);
  // Paths guarded by their own name come before targets of symlinks.
  std::ranges::sort(guarded_, [](const GuardedPath& left, const GuardedPath& right) {
    return std::tie(left.path, left.through) < std::tie(right.path, right.through);
  });
  const auto rest = std::ranges::unique(guarded_, {}, &GuardedPath::path);
  guarded_.erase(rest.begin(), rest.end());
  return std::move(guarded_);
}

}  // namespace coop::guards
