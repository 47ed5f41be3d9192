// What a command left in the home that its sandbox had for itself, and that is lost with it.
#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"

namespace coop::run {

// Whether the sandbox has a home in memory.
bool has_own_home(const Plan& plan);

// A note, or nothing when there is nothing to tell. Looks only where coop made directories: in the home itself and on the way
// to what is mounted in it, so that `git worktree add ../x` beside a workspace is seen. Caches and names with a dot do
// not count. `root`: of the sandbox's view.
std::optional<std::string> lost_files(int root, const Plan& plan);

}  // namespace coop::run
