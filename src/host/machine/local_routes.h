// The addresses that are this machine's by a route.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/destination.h"

namespace coop::host {

// The destinations of all local routes: `ip route add local 203.0.113.0/24 dev lo` makes addresses that no interface has.
Result<std::vector<Prefix>> local_routes();

// Adds those of some messages of the kernel to `routes`. False: these were the last ones.
Result<bool> read_local_routes(std::string_view messages, std::vector<Prefix>& routes);

}  // namespace coop::host
