// Policy + HostFacts → Plan. Makes no system call: the same two inputs give the same plan
// everywhere.
#pragma once

#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

Result<Plan> compile(const Policy& policy, const HostFacts& host);

// The name inside: the policy's, coop's own, or the host's where none can be set.
std::string hostname_of(const Policy& policy, const HostFacts& host);

// The first steps of compile(): namespaces, ids, loopback and hostname. They need no file system
// facts, so the child can execute them while the rest is planned.
Result<Plan> begin(const Policy& policy, const HostFacts& host);

// Every path whose fact compile() needs. Fill HostFacts::paths with them first.
std::vector<Path> wanted_paths(const Policy& policy, const HostFacts& host);

// And then with these: other names of hidden paths, which are known only after the first facts.
std::vector<Path> wanted_aliases(const Policy& policy, const HostFacts& host);

// And last, once the workspace was walked: the parts of git directories that are mounted although the rest is served.
std::vector<Path> wanted_natives(const HostFacts& host);

// Whether the workspace may be one: asked before it is walked, which would take long for "/".
Result<void> check_workspace_path(const Policy& policy, const HostFacts& host);

// The writable trees of the host in which guards apply: the workspace first, then --rw trees.
// Caches are excluded: no host program obeys files in them.
std::vector<Path> guarded_trees(const Policy& policy, const HostFacts& host);

}  // namespace coop::plan
