// Linked worktrees of the host whose checkouts are not visible inside, or read-only.
#pragma once

#include <vector>

#include "plan/view/layout.h"

namespace coop::plan {

// git takes such a worktree for abandoned: `git worktree prune`, and `git gc`, would delete what the repository keeps about it.
// An empty file where the checkout's .git file would be keeps them from it, and `git worktree remove` too, since it leads to no
// repository. Not for served git directories, where the supervisor shows these worktrees as locked.
void add_worktrees(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                   const std::vector<GitDirectory>& served);

}  // namespace coop::plan
