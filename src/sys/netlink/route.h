// Routes as rtnetlink tells of them.
#pragma once

#include <linux/rtnetlink.h>

#include <optional>
#include <string>
#include <string_view>

#include "coop/destination.h"

namespace coop::netlink {

struct Route {
  rtmsg header{};
  std::string destination{};  // empty: everything
  bool through_gateway = false;

  bool is_local() const;
  // Whether it leads to a link of this machine. Routes that a person made (a VPN's, say) lead elsewhere without a gateway
  // too; the kernel, a router's advertisement and a DHCP client make those of a link's own network.
  bool is_on_link() const;
  std::optional<Prefix> network() const;  // nothing: everything
};

// The body of a RTM_NEWROUTE message. Nothing: it is cut off.
std::optional<Route> parse_route(std::string_view body);

}  // namespace coop::netlink
