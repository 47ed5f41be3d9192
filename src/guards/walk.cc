#include "guards/walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

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

// Where a directory of an index may be plain: elsewhere git directories are recognised by what is around them.
bool may_be_plain(Place place) { return place == Place::ordinary || place == Place::packages; }

}  // namespace

std::int64_t file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<void> GuardWalk::tree(const Path& root, const TreeMemory& memory) {
  follows_package_links_ = true;
  if (memory.directory.empty()) {
    TRY(walk(root, Place::top, Reach::everything));
    walk_linked();
    return {};
  }
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
  if (walked) walk_linked();
  return walked;
}

// Without an index: that one has these directories as packages.
void GuardWalk::walk_linked() {
  while (!found_.stopped()) {
    std::optional<PackageLinks::Target> target = package_links_.next();
    if (!target) return;
    [[maybe_unused]] const Result<void> is_open =
        walk(target->directory, target->path, Place::linked, Reach::everything);
  }
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
  top_depth_ = depth_of(top) - directory.depth();
  reach_ = reach;
  std::vector<Level> levels;
  levels.push_back(Level{.standing = {place}, .path_length = top.size()});
  if (memory_ && memory_->known.size() > 0) levels.back().known = 0;
  enter_index(levels.back(), {});
  look(levels.back());
  while (!levels.empty() && !found_.stopped()) {
    if (std::optional<Level> below = descend(levels.back())) {
      look(*below);
      levels.push_back(std::move(*below));
      continue;
    }
    if (!levels.back().missed.empty()) look_for_missed(levels.back());
    path_.resize(levels.back().path_length);
    leave_index(levels.back());
    levels.pop_back();
    if (!levels.empty() && !directory.leave()) found_.give_up(Stop::disturbed);
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
    if (place == Place::linked && !package_links_.is_first_visit(*directory_)) {
      if (!directory_->leave()) found_.give_up(Stop::disturbed);
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
  if (error == ENOTDIR || error == ELOOP) return found_.disturbed();
  if (error != EACCES || may_hide_something(directory_->fd(), name)) found_.incomplete();
}

// The kernel lists nothing in a directory that has been removed since it was opened: nothing is in it.
void GuardWalk::cannot_list(const Error& error) {
  if (error.errno_value != ENOENT) found_.incomplete();
}

// Directories that were gone when they should be entered: were they removed, or do they have another name here? ext4 gives
// the inode of a removed one to the next that is made.
void GuardWalk::look_for_missed(const Level& level) {
  if (::lseek(directory_->fd(), 0, SEEK_SET) < 0) return found_.disturbed();
  const std::set<std::uint64_t> missed(level.missed.begin(), level.missed.end());
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_,
                     [&](std::string_view name, unsigned char type, std::uint64_t inode) {
                       if ((type != DT_DIR && type != DT_UNKNOWN) || !missed.contains(inode))
                         return Next::go_on;
                       if (born_at(directory_->fd(), name.data()) <= level.listed)
                         found_.disturbed();
                       return Next::go_on;
                     });
  if (!read) cannot_list(read.error());
}

Sight GuardWalk::read_entries(Level& level, std::vector<std::string>& links) {
  Sight sight;
  if (appearing_) sight.push_back(*std::exchange(appearing_, std::nullopt));
  const std::string passed_over = std::exchange(passed_over_, {});
  level.listed = file_clock();
  const bool wants_links =
      names_.git_file() || (follows_package_links_ && level.standing.place != Place::packages);
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_,
                     [&](std::string_view name, unsigned char type, std::uint64_t inode) {
                       if (!found_.count_entry()) return Next::stop;
                       if (name == passed_over) return Next::go_on;
                       if (type == DT_UNKNOWN) type = type_of(directory_->fd(), name.data());
                       if (type == DT_DIR) {
                         level.pending.append(name) += '\0';
                         level.inodes.push_back(inode);
                       }
                       if (names_.interesting(name))
                         sight.push_back({std::string(name), folded(name), type});
                       if (type == DT_LNK && wants_links) links.emplace_back(name);
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
  const Leading leading = follows_package_links_ ? look_at_links(level, links) : Leading::elsewhere;
  if (memory_ && sight.empty() && may_be_plain(standing.place) && leading == Leading::elsewhere)
    memory_->next.plain(level.row);
  if (!sight.empty())
    for_each_guard(names_, standing, sight, [&](const Guard& guard) { match(guard, sight); });
  if (standing.place == Place::linked) return;
  if (standing.git) look_in_git(level, sight);
  for (const Seen& seen : sight)
    if (seen.folded == ".git") look_at_git_file(seen);
  // git follows a symlink in place of a submodule's git directory to settings we never see.
  if (standing.git || standing.is_git_place() || standing.holds_git_directories())
    for (const std::string& name : links) add_git_link(name, path_);
}

// Also if no name counts in every directory: the next walk, with other names, may have the same index.
GuardWalk::Leading GuardWalk::look_at_links(const Level& level,
                                            const std::vector<std::string>& links) {
  auto leading = Leading::elsewhere;
  if (level.standing.place == Place::packages) return leading;
  for (const std::string& name : links) {
    if (found_.stopped()) break;
    // What is reached by a path with such a name is packages by that name.
    const auto below = place_below(level.standing, folded(name), Reach::everything);
    if (!below || *below == Place::packages) continue;
    errno = 0;
    const std::string text = read_link(directory_->fd(), name);
    if (text.empty() && errno == EINVAL) found_.disturbed();  // a directory now, and not entered
    const bool may_lead = may_lead_into_packages(text);
    // ".." leads from a directory of packages to others.
    if (text.empty() || (!may_lead && level.standing.place != Place::linked)) continue;
    leading = Leading::into_packages;
    const auto added = package_links_.add(directory_->fd(), name, join(path_, name));
    if (added == PackageLinks::Added::unfollowable && may_lead) add_unfollowable(name);
  }
  return leading;
}

// "app -> /proc/self/cwd/node_modules/app" leads to another directory for each program. Such a symlink counts itself.
void GuardWalk::add_unfollowable(const std::string& name) {
  struct stat status{};
  if (names_.anywhere().empty() ||
      ::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0 ||
      !S_ISLNK(status.st_mode) || path_.size() + name.size() >= kLongestPath)
    return;
  GuardedPath found = make_fact(join(path_, name), std::string(names_.anywhere().front().name),
                                status, born_at(directory_->fd(), name.c_str()));
  found.link = read_link(directory_->fd(), name);
  found_.keep(std::move(found));
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
        if (!found_.count_entry()) return Next::stop;
        if (type == DT_UNKNOWN) type = type_of(directory_->fd(), entry.data());
        if (type == DT_LNK || type == DT_DIR)
          below.push_back((type == DT_LNK ? "l" : "d") + std::string(entry));
        return Next::go_on;
      });
  if (!read) cannot_list(read.error());
  for (const std::string& entry : below) {
    if (found_.stopped()) break;
    if (entry.starts_with('l')) add_git_link(entry.substr(1), path);
    else if (levels > 0) find_git_links(entry.substr(1), path, levels - 1, levels_end);
    else if (levels_end == Deeper::guarded)
      add(entry.substr(1), join(path, entry.substr(1)), ".git", {});
  }
  if (!directory_->leave()) found_.give_up(Stop::disturbed);
}

std::vector<std::string> GuardWalk::directories_here() {
  std::vector<std::string> names;
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (!found_.count_entry()) return Next::stop;
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
  for (std::size_t at = 0; at < level.pending.size() && !found_.stopped();) {
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
      // Symlinks in their places are listed already.
      for (const std::string& below : directories_here())
        if (const std::string kind = folded(below); kind == "info" || kind == "pack")
          find_git_links(below, join(path_, name), 1, Deeper::ignored);
    } else {
      // git-lfs and git-annex make directories objects/ab/cd, and keep little elsewhere.
      for (const std::string& below : directories_here())
        find_git_links(below, join(path_, name), folded(below) == "objects" ? 1 : kDeepest,
                       Deeper::ignored);
    }
    if (!directory_->leave()) found_.give_up(Stop::disturbed);
  }
}

void GuardWalk::look_in_git(const Level& level, const Sight& sight) {
  const Standing& standing = level.standing;
  const bool known_place = standing.place == Place::module || standing.place == Place::worktree;
  if (path_.size() < PATH_MAX && !found_.paths_overflow()) {
    found_.count_path(path_);
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
  if (S_ISDIR(status.st_mode) != (seen.type == DT_DIR)) found_.disturbed();
  if (S_ISDIR(status.st_mode)) return;
  if (names_.git_file()) find_git_pointer(name, Place::ordinary);
  if (git_names_ == nullptr || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), name);
  const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
  git_names_->checkout(path_, target.value_or(".git"));
}

// A .git or commondir file, or any other entry with that name.
void GuardWalk::find_git_pointer(const std::string& name, Place place) {
  const std::size_t index = found_.guarded().size();
  add(name, join(path_, name), ".git", {});
  if (found_.guarded().size() == index || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), name);
  if (!text) return;
  if (folded(name) == ".git") {
    const std::optional<std::string> target = parse_gitfile(*text);
    const std::optional<Path> leads = target ? resolve_plainly(*target, path_) : std::nullopt;
    if (leads) git_files_.emplace_back(index, *leads);
  } else if (place == Place::worktree) {
    const std::optional<std::string> target = parse_pointer(*text);
    found_.guarded()[index].harmless =
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
  if (!directory_->leave()) found_.give_up(Stop::disturbed);
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
  const bool overflows = spill_ && found_.paths_overflow();
  if (path.size() > kLongestPath && !overflows) return add_ancestor(path, guard);
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  GuardedPath found = make_fact(path, guard, status, born_at(directory_->fd(), name.c_str()));
  if (S_ISLNK(status.st_mode)) found.link = read_link(directory_->fd(), name);
  if (overflows && spill_(*directory_, name, found) == Spilled::taken) return;
  if (policy::guard_kind(guard) == policy::GuardKind::contents)
    found.programs = programs_in(directory_->fd(), name, guard).value_or(found.programs);
  found_.keep(found);
  if (S_ISLNK(status.st_mode) && guard != ".git") links_.behind(found, rest);
  if (S_ISDIR(status.st_mode)) links_.in_directory(path, found);
}

// Lists the deepest parent of `path` that can still be listed.
void GuardWalk::add_ancestor(const Path& path, const std::string& guard) {
  const Path ancestor = path.substr(0, path.rfind('/', kLongestPath));
  const std::vector<GuardedPath>& guarded = found_.guarded();
  if (!guarded.empty() && guarded.back().path == ancestor) return;
  const std::size_t depth = depth_of(ancestor) - top_depth_;
  found_.keep(make_fact(ancestor, guard, directory_->status_at(depth), 0));
}

std::vector<GitDirectory> GuardWalk::take_git() { return {git_.begin(), git_.end()}; }

std::vector<GuardedPath> GuardWalk::take_guarded() {
  for (const auto& [index, leads] : git_files_)
    found_.guarded()[index].harmless = git_directories_.contains(leads);
  return found_.take();
}

}  // namespace coop::guards
