// Git directories that the supervisor serves to the sandbox.
#pragma once

#include <utility>
#include <vector>

#include "plan/view/layout.h"

namespace coop::plan {

// On the host and inside.
using WatchedRoots = std::vector<std::pair<Path, Path>>;

// Adds their mounts to `entries` and lists them in plan.served, or says in plan.unserved why they are not served.
void serve_git(std::vector<Entry>& entries, const HostFacts& host, GuardPlan& plan,
               const WatchedRoots& roots);

// A user's rule that is stricter than the guard, at the guarded path or above it, wins: what is
// hidden, replaced or read-only needs no guard, and a guard must not expose it again.
bool is_covered(const std::vector<Entry>& entries, const Path& target, const Path& root_target);

}  // namespace coop::plan
