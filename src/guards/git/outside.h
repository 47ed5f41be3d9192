// Finds the git directory outside the workspace that belongs to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coop/host_facts.h"
#include "coop/path.h"

namespace coop::guards {

// realpath(3); nothing when it fails.
std::optional<Path> canonical(const Path& path);

// The git directory outside `root` (canonical) that root/.git leads to, if that directory itself
// names `root` as its checkout: a linked worktree's common directory, a submodule's own one. Empty
// otherwise, and for a repository that is entirely inside.
std::vector<Path> find_outside_git(const Path& root);

// Those of these git directories that belong to linked worktrees.
std::vector<LinkedWorktree> linked_worktrees(const std::vector<GitDirectory>& git);

// As root: those below a directory of another user that only that user may search.
std::vector<Path> locked_away(const std::vector<GitDirectory>& git);

// The path `target`, from a file in `directory`, if it exists and contains no symlink.
std::optional<Path> resolve_plainly(std::string_view target, const Path& directory);

enum class Content { none, unreadable, too_large, text };
struct RegularFile {
  Content content = Content::none;
  std::string text{};
  int error = 0;  // of an unreadable one: why
};
// A regular file of at most `most` bytes; none for others: a FIFO would block, a device never end. `flags`: O_NOFOLLOW,
// or 0 to follow a symlink as git does.
RegularFile read_regular(int directory, const std::string& name, int flags, std::size_t most);
// Whether an errno says that nothing is at a path.
bool means_absent(int error);
// The repositories that `root` (canonical) lies in, outside of it: a directory above it with a .git, or a bare one. `top`
// is empty for a bare one.
struct Surrounding {
  Path top{};
  Path git{};  // top/.git, of any type
};
std::vector<Surrounding> surrounding_repositories(const Path& root);
// The text of a small one that is no symlink.
std::optional<std::string> read_small(int directory, const std::string& name);

}  // namespace coop::guards
