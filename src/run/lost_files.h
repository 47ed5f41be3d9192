// What a command left in the home that its sandbox had for itself: it is lost with the sandbox, or kept where the user does not look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/plan.h"

namespace coop::run {

// Whether the sandbox has a home of its own in the host view.
bool has_own_home(const Plan& plan);

// A note, or nothing when there is nothing to tell. Looks only where coop made directories: in the home itself and on the way
// to what is mounted in it, so that `git worktree add ../x` beside a workspace is seen. Caches and names with a dot do
// not count. `root`: of the sandbox's view. `since`: when it was
// started, in seconds; only newer files of a kept home count.
std::optional<std::string> lost_files(int root, const Plan& plan, std::int64_t since);

}  // namespace coop::run
