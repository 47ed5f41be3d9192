// Helper programs and devices that some features need.
#pragma once

#include <optional>
#include <string_view>

#include "host/facts.h"

namespace coop::host {

// Fills fuse, id_ranges, pasta and slirp4netns.
void find_tools(HostFacts& facts);
// Of these, pasta and slirp4netns.
void find_network_tools(HostFacts& facts);

// Where a program is: on the PATH, or where systems keep theirs. Relative entries are passed over.
std::optional<Path> find_program(const HostFacts& facts, std::string_view name);

}  // namespace coop::host
