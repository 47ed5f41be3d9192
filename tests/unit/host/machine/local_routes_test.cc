#include "host/machine/local_routes.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/address.h"
#include "sys/netlink/batch.h"

namespace coop::host {
namespace {

std::string route(unsigned char type, std::string_view network,
                  unsigned char protocol = RTPROT_BOOT, bool gateway = false) {
  const Prefix prefix = *parse_prefix(network);
  rtmsg header{};
  header.rtm_family = prefix.address.size() == 4 ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(prefix.bits);
  header.rtm_type = type;
  header.rtm_protocol = protocol;
  netlink::NetlinkBatch batch;
  batch.begin(RTM_NEWROUTE, 0, netlink::bytes_of(header));
  batch.number(RTA_TABLE, RT_TABLE_LOCAL);
  batch.attribute(RTA_DST, prefix.address);
  if (gateway) batch.attribute(RTA_GATEWAY, prefix.address);
  batch.end();
  return batch.bytes();
}

std::string end_with(int error) {
  netlink::NetlinkBatch batch;
  batch.begin(NLMSG_DONE, 0, netlink::bytes_of(error));
  batch.end();
  return batch.bytes();
}

TEST(LocalRoutesTest, DestinationsOfLocalRoutesAreRead) {
  std::vector<Prefix> routes;
  const std::string messages = route(RTN_LOCAL, "203.0.117.0/24") +
                               route(RTN_UNICAST, "198.51.100.0/24") +
                               route(RTN_LOCAL, "2001:db8:7::/48");
  const Result<bool> more = read_routes(messages, RouteKind::local, routes);
  EXPECT_TRUE(more && *more);
  EXPECT_EQ(routes,
            (std::vector{*parse_prefix("203.0.117.0/24"), *parse_prefix("2001:db8:7::/48")}));
  const Result<bool> last = read_routes(end_with(0), RouteKind::local, routes);
  EXPECT_TRUE(last && !*last);
}

TEST(LocalRoutesTest, NetworksOfLinksAreThoseThatComeByThemselves) {
  std::vector<Prefix> routes;
  const std::string messages =
      route(RTN_UNICAST, "203.0.117.0/24", RTPROT_KERNEL) +
      route(RTN_UNICAST, "2001:db8:7::/64", RTPROT_RA) +
      route(RTN_UNICAST, "203.0.118.0/24", RTPROT_DHCP) +
      route(RTN_UNICAST, "203.0.119.0/24", RTPROT_DHCP, true) +  // behind a gateway
      route(RTN_UNICAST, "203.0.120.0/24", RTPROT_STATIC) +      // a person's, of a VPN
      route(RTN_BROADCAST, "203.0.117.255", RTPROT_KERNEL) +
      route(RTN_UNICAST, "0.0.0.0/0", RTPROT_DHCP) + route(RTN_LOCAL, "203.0.117.5", RTPROT_KERNEL);
  EXPECT_TRUE(read_routes(messages, RouteKind::on_link, routes).has_value());
  EXPECT_EQ(routes, (std::vector{*parse_prefix("203.0.117.0/24"), *parse_prefix("2001:db8:7::/64"),
                                 *parse_prefix("203.0.118.0/24")}));
}

TEST(LocalRoutesTest, AnErrorIsOneUnlessThereAreNone) {
  std::vector<Prefix> routes;
  EXPECT_FALSE(read_routes(end_with(-EPERM), RouteKind::local, routes).has_value());
  EXPECT_TRUE(read_routes(end_with(-ENOENT), RouteKind::local, routes).has_value());
  std::string cut = route(RTN_LOCAL, "203.0.117.0/24");
  cut.pop_back();
  EXPECT_FALSE(read_routes(cut, RouteKind::local, routes).has_value());
}

TEST(LocalRoutesTest, ThisMachineHasThoseOfLoopback) {
  const Result<std::vector<Prefix>> routes = local_routes();
  ASSERT_TRUE(routes.has_value()) << to_text(routes.error());
  EXPECT_TRUE(
      std::ranges::any_of(*routes, [](const Prefix& prefix) { return is_loopback(prefix); }));
}

}  // namespace
}  // namespace coop::host
