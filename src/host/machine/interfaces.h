// The networks this machine is connected to.
#pragma once

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

// Fills networks: those of all addresses of all interfaces, unique.
Result<void> inspect_networks(HostFacts& facts);

}  // namespace coop::host
