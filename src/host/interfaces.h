// Which networks this machine is in.
#pragma once

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

// Fills networks: those of all addresses of all interfaces, each once.
Result<void> inspect_networks(HostFacts& facts);

}  // namespace coop::host
