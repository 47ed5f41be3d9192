#include "sys/netlink/route.h"

#include <algorithm>
#include <cstring>

#include "base/address.h"

namespace coop::netlink {

bool Route::is_local() const {
  return header.rtm_type == RTN_LOCAL || header.rtm_type == RTN_ANYCAST;
}

bool Route::is_on_link() const {
  const bool automatic = header.rtm_protocol == RTPROT_KERNEL || header.rtm_protocol == RTPROT_RA ||
                         header.rtm_protocol == RTPROT_DHCP;
  return header.rtm_type == RTN_UNICAST && automatic && !through_gateway && header.rtm_dst_len > 0;
}

std::optional<Prefix> Route::network() const {
  if (destination.size() != 4 && destination.size() != 16) return std::nullopt;
  return prefix_of(destination, header.rtm_dst_len);
}

std::optional<Route> parse_route(std::string_view body) {
  Route route;
  if (body.size() < sizeof route.header) return std::nullopt;
  std::memcpy(&route.header, body.data(), sizeof route.header);
  body.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(sizeof route.header), body.size()));
  while (body.size() >= sizeof(rtattr)) {
    rtattr attribute{};
    std::memcpy(&attribute, body.data(), sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > body.size())
      return std::nullopt;
    if (attribute.rta_type == RTA_DST)
      route.destination = body.substr(sizeof attribute, attribute.rta_len - sizeof attribute);
    if (attribute.rta_type == RTA_GATEWAY || attribute.rta_type == RTA_VIA ||
        attribute.rta_type == RTA_MULTIPATH)
      route.through_gateway = true;
    body.remove_prefix(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), body.size()));
  }
  return route;
}

}  // namespace coop::netlink
