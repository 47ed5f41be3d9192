// Addresses and networks that are this machine's by a route.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/destination.h"

namespace coop::host {

// The destinations of all local routes: `ip route add local 203.0.113.0/24 dev lo` makes addresses that no interface has.
Result<std::vector<Prefix>> local_routes();

// The networks of this machine's links, see netlink::Route::is_on_link(). Most are those of an address; a router's
// advertisement or the other end of a link makes others.
Result<std::vector<Prefix>> on_link_routes();

enum class RouteKind : std::uint8_t { local, on_link };
// Adds the destinations of this kind in some messages of the kernel to `routes`. False: these were the last ones.
Result<bool> read_routes(std::string_view messages, RouteKind kind, std::vector<Prefix>& routes);

}  // namespace coop::host
