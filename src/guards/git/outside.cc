#include "guards/git/outside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/path.h"
#include "guards/git/directory.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::guards {

std::optional<Path> canonical(const Path& path) {
  Result<Path> found = real_path(path);
  return found ? std::optional<Path>(*std::move(found)) : std::nullopt;
}

namespace {

// Resolved by the kernel, not textually: "link/.." is not ".".
std::optional<Path> canonical_from(std::string_view target, const Path& directory) {
  return canonical(target.starts_with('/') ? Path(target) : join(directory, target));
}

// Another user of the machine can create something that looks like a git directory in /tmp. Accept
// only what belongs to us, or to the workspace's owner when we are root.
class Owners {
 public:
  explicit Owners(const Path& root) {
    struct stat status{};
    if (::geteuid() == 0 && ::stat(root.c_str(), &status) == 0) workspace_ = status.st_uid;
  }
  bool trust(const Path& path) const {
    struct stat status{};
    if (::lstat(path.c_str(), &status) < 0) return false;
    return status.st_uid == ::geteuid() || status.st_uid == workspace_;
  }

 private:
  uid_t workspace_ = ::geteuid();
};

bool is_directory(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool looks_like_git(const Path& path) {
  return is_directory(join(path, "objects")) && is_directory(join(path, "refs")) &&
         ::faccessat(AT_FDCWD, join(path, "HEAD").c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// T is COMMON/worktrees/NAME, T/gitdir names our .git file and T/commondir names COMMON.
std::optional<Path> worktree_common(const Path& target, const Path& root, const Owners& owners) {
  if (name_of(parent_of(target)) != "worktrees") return std::nullopt;
  const Path common = parent_of(parent_of(target));
  for (const char* const name : {"gitdir", "commondir"}) {
    const std::optional<std::string> text = read_small(AT_FDCWD, join(target, name));
    if (!text || !owners.trust(join(target, name))) return std::nullopt;
    const std::optional<std::string> pointer = parse_pointer(*text);
    if (!pointer) return std::nullopt;
    const Path expected = name == std::string_view("gitdir") ? join(root, ".git") : common;
    if (canonical_from(*pointer, target) != expected) return std::nullopt;
  }
  return common;
}

// T/config says that core.worktree is our root.
std::optional<Path> submodule_directory(const Path& target, const Path& root,
                                        const Owners& owners) {
  const Path config = join(target, "config");
  const std::optional<std::string> text = read_small(AT_FDCWD, config);
  if (!text || !owners.trust(config)) return std::nullopt;
  const std::optional<std::string> worktree = config_value(*text, "core", "worktree");
  if (!worktree || canonical_from(*worktree, target) != root) return std::nullopt;
  return target;
}

}  // namespace

std::vector<Path> locked_away(const std::vector<GitDirectory>& git) {
  std::vector<Path> locked;
  if (::geteuid() != 0) return locked;
  for (const GitDirectory& directory : git) {
    for (Path above = parent_of(directory.path); above.size() > 1; above = parent_of(above)) {
      struct stat status{};
      if (::lstat(above.c_str(), &status) < 0 || status.st_uid == 0) continue;
      if ((status.st_mode & S_IXOTH) != 0) continue;
      locked.push_back(directory.path);
      break;
    }
  }
  return locked;
}

std::vector<LinkedWorktree> linked_worktrees(const std::vector<GitDirectory>& git) {
  std::vector<LinkedWorktree> worktrees;
  for (const GitDirectory& directory : git) {
    if (name_of(parent_of(directory.path)) != "worktrees") continue;
    const std::optional<std::string> text = read_small(AT_FDCWD, join(directory.path, "gitdir"));
    const std::optional<std::string> pointer = text ? parse_pointer(*text) : std::nullopt;
    if (pointer) worktrees.push_back({directory.path, *pointer});
  }
  return worktrees;
}

bool means_absent(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

// Git looks no further up than the first one, but a command in any of them obeys what that one's settings name.
std::vector<Surrounding> surrounding_repositories(const Path& root) {
  std::vector<Surrounding> found;
  if (root.size() <= 1) return found;
  for (Path above = parent_of(root);; above = parent_of(above)) {
    const Path git = join(above, ".git");
    struct stat status{};
    if (!is_within(root, git) && (::lstat(git.c_str(), &status) == 0 || !means_absent(errno)))
      found.push_back({.top = above, .git = git});
    if (looks_like_git(above))
      found.push_back({.top = name_of(above) == ".git" ? parent_of(above) : Path(), .git = above});
    if (above.size() <= 1) return found;
  }
}

RegularFile read_regular(int directory, const std::string& name, int flags, std::size_t most) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags));
  if (!fd.valid() && !means_absent(errno)) {
    const int error = errno;
    struct stat other{};
    const int follow = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    const bool special =
        ::fstatat(directory, name.c_str(), &other, follow) == 0 && !S_ISREG(other.st_mode);
    return special ? RegularFile{} : RegularFile{.content = Content::unreadable, .error = error};
  }
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode)) return {};
  if (static_cast<std::uint64_t>(status.st_size) > most) return {.content = Content::too_large};
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() <= most) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0) return {.content = Content::unreadable, .error = errno};
    if (count == 0) return {.content = Content::text, .text = std::move(text)};
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return {.content = Content::too_large};
}

std::optional<std::string> read_small(int directory, const std::string& name) {
  constexpr std::size_t kSmallFile = 65536;
  RegularFile file = read_regular(directory, name, O_NOFOLLOW, kSmallFile);
  return file.content == Content::text ? std::optional(std::move(file.text)) : std::nullopt;
}

std::optional<Path> resolve_plainly(std::string_view target, const Path& directory) {
  const std::optional<Path> found = canonical_from(target, directory);
  // A path like /proc/self/cwd/x differs for each program, and a symlink can be changed later: such
  // a target does not determine which directory git will use.
  if (!found || *found != normalize(target, directory)) return std::nullopt;
  return found;
}

// The result is mounted writable, and root/.git is a text that an earlier run may have written:
// "gitdir: /home/me" would expose the home directory to the next run. So the file is only a hint,
// and the directory it names, which no sandbox of this workspace could write unless it was proven
// before, must name this workspace itself.
std::vector<Path> find_outside_git(const Path& root) {
  const std::optional<std::string> text = read_small(AT_FDCWD, join(root, ".git"));
  const std::optional<std::string> pointer = text ? parse_gitfile(*text) : std::nullopt;
  const std::optional<Path> target = pointer ? canonical_from(*pointer, root) : std::nullopt;
  if (!target || is_within(*target, root)) return {};

  const Owners owners(root);
  std::optional<Path> git = worktree_common(*target, root, owners);
  if (!git) git = submodule_directory(*target, root, owners);
  if (!git || !owners.trust(*target) || !owners.trust(*git) || !looks_like_git(*git)) return {};
  // A git directory that contains the workspace would expose everything beside it.
  if (is_within(root, *git) || is_within(*git, root)) return {};
  return {*git};
}

}  // namespace coop::guards
