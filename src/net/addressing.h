// Addresses and routes of a sandbox's network, as messages to the kernel.
#pragma once

#include <cstdint>
#include <string>

#include "net/netlink_batch.h"

namespace coop::net {

// Addresses are 4 or 16 bytes in network order, as inet_pton() gives them.
void add_address(NetlinkBatch& batch, std::uint32_t link, const std::string& address,
                 std::uint8_t prefix);
// Whatever has no other route is this machine itself, and answers come from `source`.
void add_local_default(NetlinkBatch& batch, std::uint32_t link, const std::string& source);
void add_default_route(NetlinkBatch& batch, std::uint32_t link, const std::string& gateway);
void raise_link(NetlinkBatch& batch, std::uint32_t link);

}  // namespace coop::net
