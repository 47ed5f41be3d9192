// Which git directory outside the workspace belongs to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"

namespace coop::host {

// The git directory outside `root` (canonical) that root/.git leads to, when that directory itself
// says that `root` is its checkout: a linked worktree's common directory, a submodule's own one.
// Empty otherwise, and for a repository that lies wholly inside.
std::vector<Path> find_outside_git(const Path& root);

// Where `target`, written in a file in `directory`, leads to, if that is an existing path and no
// symlink has a say in it.
std::optional<Path> resolve_plainly(std::string_view target, const Path& directory);

// A small regular file's text; nothing for everything else (a FIFO would block us for ever).
std::optional<std::string> read_small(int directory, const std::string& name);

}  // namespace coop::host
