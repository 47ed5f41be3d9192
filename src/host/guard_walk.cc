#include "host/guard_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <tuple>

#include "base/path.h"
#include "host/git_directory.h"
#include "host/outside_git.h"
#include "host/trail.h"

namespace coop::host {

namespace {

// No program takes a path as long as this. What is guarded deeper down is not listed one by one:
// each would cost a walk down to it, and a run could leave hours of work behind.
constexpr std::size_t kLongestPath = 16384;

bool has(const auto& sight, std::string_view name) {
  return std::ranges::any_of(sight, [&](const auto& seen) { return seen.name == name; });
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

GuardedPath make_fact(const Path& path, const std::string& guard, const struct stat& status) {
  return GuardedPath{.path = path,
                     .guard = guard,
                     .device = status.st_dev,
                     .inode = status.st_ino,
                     .changed = nanoseconds(status.st_ctim),
                     .links = status.st_nlink,
                     .directory = S_ISDIR(status.st_mode)};
}

std::string read_link(int directory, const std::string& name) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t length = ::readlinkat(directory, name.c_str(), buffer.data(), buffer.size());
  return length < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

unsigned char type_of(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

// Whether something could have been put into a directory that we cannot read. Our own directories
// have been opened by force: this is about those of others.
bool may_hide_something(int parent, const std::string& name) {
  return ::faccessat(parent, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

}  // namespace

Result<void> GuardWalk::tree(const Path& root) { return walk(root, Place::top, Reach::everything); }

Result<void> GuardWalk::git_directory(const Path& path) {
  git_directories_.insert(path);
  return walk(path, Place::dot_git, Reach::git_structure);
}

// Depth first with a stack of our own: the depth of the tree is the sandbox's choice.
Result<void> GuardWalk::walk(const Path& top, Place place, Reach reach) {
  DirectoryStack directory = TRY(DirectoryStack::open(top));
  directory_ = &directory;
  path_ = top;
  top_depth_ = depth_of(top);
  reach_ = reach;
  std::vector<Level> levels;
  levels.push_back(Level{.place = place, .path_length = top.size()});
  look(levels.back());
  while (!levels.empty() && !stopped_) {
    if (std::optional<Level> below = descend(levels.back())) {
      look(*below);
      levels.push_back(std::move(*below));
      continue;
    }
    path_.resize(levels.back().path_length);
    levels.pop_back();
    if (!levels.empty() && !directory.leave()) give_up();
  }
  directory_ = nullptr;
  return {};
}

// Enters the next directory that matters; nothing when there is none left.
std::optional<GuardWalk::Level> GuardWalk::descend(Level& level) {
  while (level.next < level.pending.size()) {
    const std::string name(level.pending.c_str() + level.next);
    level.next += name.size() + 1;
    const std::optional<Place> place = place_of(level, name);
    if (!place) continue;
    if (const Result<void> entered = directory_->enter(name); !entered) {
      cannot_enter(name, entered.error().errno_value);
      continue;
    }
    Level below{.place = *place, .path_length = path_.size()};
    if (!path_.ends_with('/')) path_ += '/';
    path_ += name;
    return below;
  }
  return std::nullopt;
}

void GuardWalk::cannot_enter(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return;
  if (error != EACCES || may_hide_something(directory_->fd(), name)) complete_ = false;
}

std::optional<GuardWalk::Place> GuardWalk::place_of(const Level& level,
                                                    const std::string& name) const {
  if (level.place == Place::worktrees) return Place::worktree;
  if (level.place == Place::modules) return Place::module;
  if (level.git && name == "modules") return Place::modules;
  if (level.git && name == "worktrees") return Place::worktrees;
  if (level.place == Place::module && !level.git) return Place::module;
  if (reach_ == Reach::git_structure) return std::nullopt;
  return name == ".git" ? Place::dot_git : Place::ordinary;
}

void GuardWalk::look(Level& level) {
  Sight sight;
  std::vector<std::string> links;
  const bool may_hold_git = level.place == Place::modules || level.place == Place::module ||
                            level.place == Place::worktrees;
  const Result<void> read =
      for_each_entry(directory_->fd(), *buffer_, [&](std::string_view name, unsigned char type) {
        if (++entries_ > limits_.entries) {
          give_up();
          return Next::stop;
        }
        if (type == DT_UNKNOWN) type = type_of(directory_->fd(), name.data());
        if (type == DT_DIR) level.pending.append(name) += '\0';
        if (names_.interesting(name)) sight.push_back(Seen{std::string(name), type});
        if (type == DT_LNK && may_hold_git) links.emplace_back(name);
        return Next::go_on;
      });
  if (!read) complete_ = false;

  const bool bare = has(sight, "HEAD") && has(sight, "objects") && has(sight, "refs");
  const bool shared = has(sight, "HEAD") && has(sight, "commondir");
  level.git = level.place == Place::dot_git || level.place == Place::worktree || bare || shared ||
              (level.place == Place::module && has(sight, "HEAD"));
  if (level.git) look_in_git(level, sight);
  // git follows a symlink in the place of a submodule's git directory to settings we never see.
  // A submodule's git directory itself may have some (an old HEAD is one).
  const bool holds_git = may_hold_git && !(level.place == Place::module && level.git);
  if (holds_git && names_.git_file())
    for (const std::string& name : links) add(name, join(path_, name), ".git", {});
  if (level.place == Place::top || has(sight, ".git")) look_beside(sight);
  for (const Guard& guard : names_.anywhere()) match(guard, sight);
}

void GuardWalk::look_in_git(const Level& level, const Sight& sight) {
  const bool known_place = level.place == Place::module || level.place == Place::worktree;
  if (known_place && path_.size() < PATH_MAX) {
    count_path(path_);
    git_directories_.insert(path_);
  }
  for (const Guard& guard : names_.in_git()) match(guard, sight);
  const bool configured = has(sight, "config") || has(sight, "config.worktree");
  if (git_names_ != nullptr && configured && path_.size() < PATH_MAX)
    git_names_->repository(directory_->fd(), path_);
  if (!names_.git_file()) return;
  // A commondir file sends git to another directory for config and hooks, one that need not even
  // look like a git directory. In a worktree's it leads back to the repository; elsewhere it is
  // a detour.
  if (has(sight, "commondir")) find_git_pointer("commondir", level.place);
  for (const Seen& seen : sight)
    if (seen.type == DT_LNK && (seen.name == "modules" || seen.name == "worktrees"))
      add(seen.name, join(path_, seen.name), ".git", {});
}

void GuardWalk::look_beside(const Sight& sight) {
  for (const Guard& guard : names_.beside()) match(guard, sight);
  if (!has(sight, ".git")) return;
  struct stat status{};
  if (::fstatat(directory_->fd(), ".git", &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  if (S_ISDIR(status.st_mode)) return;
  if (names_.git_file()) find_git_pointer(".git", Place::ordinary);
  if (git_names_ == nullptr || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), ".git");
  const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
  git_names_->checkout(path_, target.value_or(".git"));
}

// A .git or commondir file (or whatever else is there under that name).
void GuardWalk::find_git_pointer(const std::string& name, Place place) {
  const std::size_t index = guarded_.size();
  add(name, join(path_, name), ".git", {});
  if (guarded_.size() == index || path_.size() >= PATH_MAX) return;
  const std::optional<std::string> text = read_small(directory_->fd(), name);
  if (!text) return;
  if (name == ".git") {
    const std::optional<std::string> target = parse_gitfile(*text);
    const std::optional<Path> leads = target ? resolve_plainly(*target, path_) : std::nullopt;
    if (leads) git_files_.emplace_back(index, *leads);
  } else if (place == Place::worktree) {
    const std::optional<std::string> target = parse_pointer(*text);
    guarded_[index].harmless =
        target && resolve_plainly(*target, path_) == parent_of(parent_of(path_));
  }
}

// Follows a guard's name from the current directory. A symlink on the way is guarded in its place:
// with ".claude -> x" the host would obey x/settings.json.
void GuardWalk::match(const Guard& guard, const Sight& sight) {
  if (!has(sight, guard.parts.front())) return;
  Path path = path_;
  std::size_t entered = 0;
  for (std::size_t index = 0; index < guard.parts.size(); ++index) {
    const std::string& part = guard.parts[index];
    path = join(path, part);
    struct stat status{};
    if (::fstatat(directory_->fd(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) break;
    const bool last = index + 1 == guard.parts.size();
    if (last || S_ISLNK(status.st_mode)) {
      std::string rest;
      for (std::size_t left = index + 1; left < guard.parts.size(); ++left)
        rest += "/" + guard.parts[left];
      add(part, path, guard.name, rest);
      break;
    }
    if (!S_ISDIR(status.st_mode)) break;
    if (const Result<void> below = directory_->enter(part); !below) {
      cannot_enter(part, below.error().errno_value);
      break;
    }
    ++entered;
  }
  while (entered-- > 0)
    if (!directory_->leave()) return give_up();
}

void GuardWalk::add(const std::string& name, const Path& path, const std::string& guard,
                    std::string_view rest) {
  if (path.size() > kLongestPath) return add_ancestor(path, guard);
  struct stat status{};
  if (::fstatat(directory_->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  GuardedPath found = make_fact(path, guard, status);
  if (S_ISLNK(status.st_mode)) found.link = read_link(directory_->fd(), name);
  keep(found);
  if (S_ISLNK(status.st_mode) && guard != ".git") add_behind_link(found, rest);
}

// Lists the deepest directory above `path` that can still be listed.
void GuardWalk::add_ancestor(const Path& path, const std::string& guard) {
  const Path ancestor = path.substr(0, path.rfind('/', kLongestPath));
  if (!guarded_.empty() && guarded_.back().path == ancestor) return;
  const std::size_t depth = depth_of(ancestor) - top_depth_;
  keep(make_fact(ancestor, guard, directory_->status_at(depth)));
}

// A symlink cannot be mounted over. What it leads to can, if it lies where the sandbox may write.
void GuardWalk::add_behind_link(const GuardedPath& link, std::string_view rest) {
  const Path whole = link.path + std::string(rest);
  char* const resolved = ::realpath(whole.c_str(), nullptr);
  if (resolved == nullptr) return;
  const Path target(resolved);
  ::free(resolved);
  const bool inside =
      std::ranges::any_of(writable_, [&](const Path& top) { return is_within(target, top); });
  struct stat status{};
  if (!inside || is_within(link.path, target) || ::lstat(target.c_str(), &status) < 0) return;
  GuardedPath found = make_fact(target, link.guard, status);
  found.through = link.path;
  keep(std::move(found));
}

// The symlinks on the way are guarded in their places: they cannot be mounted over, and with
// another target git would obey something else.
void GuardWalk::named(const NamedPath& name) {
  const Trail trail = follow_trail(name.path, writable_);
  Path through;
  for (const TrailLink& link : trail.links) {
    if (tree_of(link.path, writable_) == nullptr) continue;
    GuardedPath found = make_fact(link.path, name.guard, link.status);
    found.link = link.text;
    through = link.path;
    keep(std::move(found));
  }
  if (!trail.status || tree_of(trail.place, writable_) == nullptr) return;
  // Read-only, it would take a whole tree with it. And git reads no directory as a file.
  const auto inside = [&](const Path& tree) { return is_within(tree, trail.place); };
  if (std::ranges::any_of(writable_, inside)) return;
  if (name.guard == ".git/config" && S_ISDIR(trail.status->st_mode)) return;
  GuardedPath found = make_fact(trail.place, name.guard, *trail.status);
  found.through = through;
  keep(std::move(found));
}

void GuardWalk::keep(GuardedPath found) {
  count_path(found.path);
  guarded_.push_back(std::move(found));
}

void GuardWalk::count_path(const Path& path) {
  path_bytes_ += path.size();
  if (path_bytes_ > limits_.path_bytes) give_up();
}

std::vector<GuardedPath> GuardWalk::take_guarded() {
  for (const auto& [index, leads] : git_files_)
    guarded_[index].harmless = git_directories_.contains(leads);
  // What is guarded by its own name comes before what a symlink leads to.
  std::ranges::sort(guarded_, [](const GuardedPath& left, const GuardedPath& right) {
    return std::tie(left.path, left.through) < std::tie(right.path, right.through);
  });
  const auto rest = std::ranges::unique(guarded_, {}, &GuardedPath::path);
  guarded_.erase(rest.begin(), rest.end());
  return std::move(guarded_);
}

}  // namespace coop::host
