// The networks that this machine is in.
#pragma once

#include <vector>

#include "base/result.h"
#include "coop/destination.h"

namespace coop::host {

// Those of all addresses of all interfaces, those of links that a route alone makes, and what local routes lead to; unique.
Result<std::vector<Prefix>> machine_networks();

}  // namespace coop::host
