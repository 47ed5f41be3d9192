// What the facts mean for the default sandbox.
#pragma once

#include <string>
#include <vector>

#include "host/facts.h"

namespace coop::host {

// What the default sandbox requires and this machine lacks; empty when it can run.
std::vector<std::string> missing_for_sandbox(const HostFacts& facts);

// What works less well here than it could, one line each.
std::vector<std::string> degraded(const HostFacts& facts);

}  // namespace coop::host
