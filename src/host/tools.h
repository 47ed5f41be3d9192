// Helper programs and devices that some features need.
#pragma once

#include "host/facts.h"

namespace coop::host {

// Fills fuse, id_ranges, pasta and slirp4netns.
void find_tools(HostFacts& facts);

}  // namespace coop::host
