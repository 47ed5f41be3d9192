// Finds the git directory outside the workspace that belongs to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"

namespace coop::guards {

// realpath(3); nothing when it fails.
std::optional<Path> canonical(const Path& path);

// The git directory outside `root` (canonical) that root/.git leads to, if that directory itself
// names `root` as its checkout: a linked worktree's common directory, a submodule's own one. Empty
// otherwise, and for a repository that is entirely inside.
std::vector<Path> find_outside_git(const Path& root);

// The path `target`, from a file in `directory`, if it exists and contains no symlink.
std::optional<Path> resolve_plainly(std::string_view target, const Path& directory);

// The text of a small regular file; nothing for others (a FIFO would block).
std::optional<std::string> read_small(int directory, const std::string& name);

}  // namespace coop::guards
