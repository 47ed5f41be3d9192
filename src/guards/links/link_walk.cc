#include "guards/links/link_walk.h"

#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "base/path.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostInDirectory = 1000;

GuardedPath fact_of(const TrailLink& link, const std::string& guard) {
  GuardedPath found = make_fact(link.path, guard, link.status, link.born);
  found.link = link.text;
  return found;
}

// It is in the guarded directory that the link is in.
bool is_behind(const Path& path, const GuardedPath& link) {
  return !link.through.empty() && is_within(path, link.through);
}

}  // namespace

// A symlink cannot be a mount point. Its target can, if it is in a writable tree; so are the symlinks on the way there, which
// are put back at the end. Each counts as reached through the one before: where a new one leads is of no interest.
void LinkWalk::behind(const GuardedPath& link, std::string_view rest) {
  constexpr std::size_t kMost = 20'000;
  // Ending in silence would leave the targets of the user's own links unguarded: another sandbox can make thousands.
  if (++followed_ > kMost) return found_.too_many_links();
  const Trail trail = follow_trail(link.path + std::string(rest), writable_, &trails_);
  Path through = link.path;
  for (const TrailLink& next : trail.links) {
    const bool known = next.path == link.path || is_behind(next.path, link);
    if (known || tree_of(next.path, writable_) == nullptr) continue;
    GuardedPath found = fact_of(next, link.guard);
    found.through = std::exchange(through, next.path);
    found_.keep(std::move(found));
  }
  if (trail.place.empty() || !trail.status || is_within(link.path, trail.place)) return;
  if (is_behind(trail.place, link)) return;
  GuardedPath found = make_fact(trail.place, link.guard, *trail.status, trail.born);
  found.through = through;
  if (tree_of(trail.place, writable_) == nullptr) return in_directory_outside(found);
  const GuardedPath kept = found;
  found_.keep(std::move(found));
  if (kept.directory) in_directory(trail.place, kept);
}

// The symlinks on the path are guarded themselves: they cannot be mount points, and with another
// target git would obey another file.
void LinkWalk::named(const NamedPath& name) {
  const Trail trail = follow_trail(name.path, writable_, &trails_);
  Path through;
  for (const TrailLink& link : trail.links) {
    if (tree_of(link.path, writable_) == nullptr) continue;
    GuardedPath found = fact_of(link, name.guard);
    through = link.path;
    found_.keep(std::move(found));
  }
  if (!trail.status) return;
  GuardedPath found = make_fact(trail.place, name.guard, *trail.status, trail.born);
  if (tree_of(trail.place, writable_) == nullptr) return in_directory_outside(found);
  // Making it read-only would affect a whole tree. And git reads no directory as a file.
  if (holds_a_tree(trail.place, writable_)) return;
  if (name.guard == ".git/config" && S_ISDIR(trail.status->st_mode)) return;
  found.through = through;
  const GuardedPath kept = found;
  found_.keep(std::move(found));
  if (kept.directory) in_directory(trail.place, kept);
}

// "hooks/pre-commit -> ../../scripts/pre-commit": the host runs what it leads to. A directory that two symlinks lead to is
// looked through once.
void LinkWalk::in_directory(const Path& directory, const GuardedPath& guarded) {
  if (!followed_in_.insert(directory).second) return;
  Result<DirectoryStack> opened = open_within(directory, writable_);
  if (!opened && (opened.error().errno_value == ENOTDIR || opened.error().errno_value == ELOOP))
    return found_.disturbed();
  if (opened) walk(*opened, directory, guarded);
}

// Depth first with an explicit stack: the sandbox may have made the directories.
void LinkWalk::walk(DirectoryStack& at, Path path, const GuardedPath& guarded) {
  std::vector<Level> levels;
  levels.push_back(look(at, path, guarded));
  while (!levels.empty() && !found_.stopped()) {
    Level& level = levels.back();
    if (level.next == level.pending.size()) {
      path.resize(level.path_length);
      levels.pop_back();
      if (!levels.empty() && !at.leave()) return found_.disturbed();
      continue;
    }
    const std::string name = std::move(level.pending[level.next++]);
    Path inside = join(path, name);
    if (!enter(at, name, inside)) continue;
    Level below = look(at, inside, guarded);
    below.path_length = std::exchange(path, std::move(inside)).size();
    levels.push_back(std::move(below));
  }
}

bool LinkWalk::enter(DirectoryStack& at, const std::string& name, const Path& path) {
  if (!followed_in_.insert(path).second) return false;
  const Result<void> entered = at.enter(name);
  if (entered) return true;
  if (entered.error().errno_value == ENOTDIR || entered.error().errno_value == ELOOP)
    found_.disturbed();
  return false;
}

// Follows the symlinks in one directory. No call takes a path as long as PATH_MAX; what lies below cannot be changed in a
// guarded directory that exists, and a new one is moved as a whole.
LinkWalk::Level LinkWalk::look(DirectoryStack& at, const Path& path, const GuardedPath& guarded) {
  std::vector<std::string> links;
  Level level;
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(at.fd(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (!found_.count_entry()) return Next::stop;
        if (type == DT_UNKNOWN) type = type_of(at.fd(), entry.data());
        if (type == DT_LNK) links.emplace_back(entry);
        if (type == DT_DIR && path.size() + entry.size() + 1 < PATH_MAX)
          level.pending.emplace_back(entry);
        return links.size() < kMostInDirectory ? Next::go_on : Next::stop;
      });
  if (links.size() >= kMostInDirectory) {
    links.clear();
    found_.too_many_links();
  }
  for (const std::string& name : links) {
    if (found_.stopped()) break;
    GuardedPath inside = guarded;
    inside.path = join(path, name);
    inside.through = guarded.path;
    behind(inside, {});
  }
  return level;
}

// A directory of hooks that cannot be changed inside, but perhaps what its links lead to: "~/hooks/pre-commit ->
// ~/work/scripts/check". Its mode stays as it is: settings that a sandbox has written may name any directory.
void LinkWalk::in_directory_outside(const GuardedPath& directory) {
  if (!directory.directory || directory.guard != ".git/hooks") return;
  const Result<UniqueFd> opened =
      open_file(directory.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  if (!opened) return;
  std::vector<std::string> links;
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(opened->get(), *buffer_, [&](std::string_view entry, unsigned char type) {
        if (type == DT_UNKNOWN) type = type_of(opened->get(), entry.data());
        if (type == DT_LNK) links.emplace_back(entry);
        return links.size() < kMostInDirectory ? Next::go_on : Next::stop;
      });
  if (links.size() >= kMostInDirectory) return found_.too_many_links();
  for (const std::string& name : links) {
    GuardedPath link = directory;
    link.path = join(directory.path, name);
    link.through = directory.path;
    behind(link, {});
  }
}

}  // namespace coop::guards
