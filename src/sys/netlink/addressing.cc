#include "sys/netlink/addressing.h"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace coop::netlink {

namespace {

std::uint8_t family_of(const std::string& address) {
  return address.size() == 4 ? AF_INET : AF_INET6;
}

rtmsg route(std::uint8_t family, std::uint8_t type, std::uint8_t table, std::uint8_t scope) {
  rtmsg header{};
  header.rtm_family = family;
  header.rtm_table = table;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = scope;
  header.rtm_type = type;
  return header;
}

}  // namespace

void add_address(NetlinkBatch& batch, std::uint32_t link, const std::string& address,
                 std::uint8_t prefix) {
  // Skip duplicate address detection: there is no other host on this link.
  const ifaddrmsg header{.ifa_family = family_of(address),
                         .ifa_prefixlen = prefix,
                         .ifa_flags = IFA_F_NODAD,
                         .ifa_scope = RT_SCOPE_UNIVERSE,
                         .ifa_index = link};
  batch.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, bytes_of(header));
  batch.attribute(IFA_LOCAL, address);
  batch.attribute(IFA_ADDRESS, address);
  batch.end();
}

void add_local_default(NetlinkBatch& batch, std::uint32_t link, const std::string& source) {
  const rtmsg header = route(family_of(source), RTN_LOCAL, RT_TABLE_LOCAL, RT_SCOPE_HOST);
  batch.begin(RTM_NEWROUTE, NLM_F_CREATE, bytes_of(header));
  batch.number(RTA_OIF, link);
  batch.attribute(RTA_PREFSRC, source);
  batch.end();
}

void add_default_route(NetlinkBatch& batch, std::uint32_t link, const std::string& gateway) {
  const rtmsg header = route(family_of(gateway), RTN_UNICAST, RT_TABLE_MAIN, RT_SCOPE_UNIVERSE);
  batch.begin(RTM_NEWROUTE, NLM_F_CREATE, bytes_of(header));
  batch.attribute(RTA_GATEWAY, gateway);
  batch.number(RTA_OIF, link);
  batch.end();
}

void raise_link(NetlinkBatch& batch, std::uint32_t link) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(link);
  header.ifi_flags = IFF_UP;
  header.ifi_change = IFF_UP;
  batch.begin(RTM_NEWLINK, 0, bytes_of(header));
  batch.end();
}

}  // namespace coop::netlink
