// Addresses and routes of a sandbox's network, as rtnetlink messages.
#pragma once

#include <cstdint>
#include <string>

#include "sys/netlink/batch.h"

namespace coop::netlink {

// Addresses are 4 or 16 bytes in network order, as inet_pton() gives them.
void add_address(NetlinkBatch& batch, std::uint32_t link, const std::string& address,
                 std::uint8_t prefix);
// A default route of type "local": every address without another route is this machine; `source` is
// the preferred source address.
void add_local_default(NetlinkBatch& batch, std::uint32_t link, const std::string& source);
void add_default_route(NetlinkBatch& batch, std::uint32_t link, const std::string& gateway);
void raise_link(NetlinkBatch& batch, std::uint32_t link);

}  // namespace coop::netlink
