// Helper programs and devices that some features need.
#pragma once

#include <optional>
#include <string_view>

#include "host/facts.h"

namespace coop::host {

// Fills fuse: whether /dev/fuse can be opened.
void find_fuse(HostFacts& facts);
// Fills fuse, id_ranges, pasta and slirp4netns.
void find_tools(HostFacts& facts);
// Of these, pasta and slirp4netns.
void find_network_tools(HostFacts& facts);

// The path of a helper program in the system's directories.
std::optional<Path> find_program(std::string_view name);

}  // namespace coop::host
