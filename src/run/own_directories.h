// Coop's own directories on the host, where a sandbox could otherwise make them.
#pragma once

#include "base/result.h"
#include "coop/policy.h"
#include "host/facts.h"

namespace coop::run {

// What is not there cannot be hidden: a command whose workspace is a home directory would write the
// policy and the approvals of the next run. So those that lie in a writable tree and are missing are
// made, empty. `policy` has its workspace and the paths of its rules completed.
Result<void> make_own_directories(const Policy& policy, const HostFacts& host);

}  // namespace coop::run
