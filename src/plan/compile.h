// Policy + HostFacts → Plan. Asks nobody: the same two inputs give the same plan everywhere.
#pragma once

#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

Result<Plan> compile(const Policy& policy, const HostFacts& host);

std::string hostname_of(const Policy& policy);

// The start of what compile() makes: namespaces, ids, loopback and hostname. It needs no look at
// the file system, so the child can be at work on it while the rest is planned.
Result<Plan> begin(const Policy& policy, const HostFacts& host);

// Every path whose fact compile() will look at. Fill HostFacts::paths with them first.
std::vector<Path> wanted_paths(const Policy& policy, const HostFacts& host);

// And then with these: other names of hidden paths, which show only once the first look has told
// where those really are.
std::vector<Path> wanted_aliases(const Policy& policy, const HostFacts& host);

// The writable trees of the host in which guards hold: the workspace first, then what --rw grants
// beside it. Caches are left out: no program of the host obeys what is in them.
std::vector<Path> guarded_trees(const Policy& policy, const HostFacts& host);

}  // namespace coop::plan
