#include "host/machine/local_routes.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "sys/fd.h"
#include "sys/netlink/batch.h"
#include "sys/netlink/route.h"

namespace coop::host {

namespace {

constexpr std::string_view kWhat = "routes";

// What the kernel leaves out (Linux 4.20) may be very much; 0: nothing.
struct Filter {
  unsigned char table = 0;
  unsigned char type = 0;
  unsigned char protocol = 0;
};

std::string question_for(int family, const Filter& filter) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(family);
  header.rtm_table = filter.table;
  header.rtm_type = filter.type;
  header.rtm_protocol = filter.protocol;
  netlink::NetlinkBatch batch;
  batch.begin(RTM_GETROUTE, NLM_F_DUMP, netlink::bytes_of(header));
  batch.end();
  return batch.bytes();
}

bool is_of(RouteKind kind, const netlink::Route& route) {
  return kind == RouteKind::local ? route.header.rtm_type == RTN_LOCAL : route.is_on_link();
}

}  // namespace

Result<bool> read_routes(std::string_view messages, RouteKind kind, std::vector<Prefix>& routes) {
  while (messages.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, messages.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > messages.size())
      return system_error_of(EBADMSG, "recv", kWhat);
    const std::string_view body = messages.substr(sizeof header, header.nlmsg_len - sizeof header);
    // DONE carries an error too. Without a route there is no table, and without IPv6 no family.
    if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) {
      int error = 0;
      std::memcpy(&error, body.data(), std::min(sizeof error, body.size()));
      if (error == 0 || error == -ENOENT || error == -EOPNOTSUPP || error == -EAFNOSUPPORT)
        return false;
      return system_error_of(-error, kWhat);
    }
    if (header.nlmsg_type == RTM_NEWROUTE) {
      const std::optional<netlink::Route> route = netlink::parse_route(body);
      if (!route) return system_error_of(EBADMSG, "recv", kWhat);
      // A local route to everything (TPROXY) has no destination: it makes no addresses.
      const std::optional<Prefix> network = route->network();
      if (is_of(kind, *route) && network) routes.push_back(*network);
    }
    messages.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
  }
  return true;
}

namespace {

Result<std::vector<Prefix>> routes_of(RouteKind kind, std::span<const Filter> filters) {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return system_error("socket", "netlink");
  const int on = 1;
  // Fails on an older kernel, which sends all routes.
  ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  std::vector<Prefix> routes;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const Filter& filter : filters) {
      const std::string question = question_for(family, filter);
      if (::send(socket.get(), question.data(), question.size(), 0) < 0)
        return system_error("send", kWhat);
      for (bool more = true; more;) {
        alignas(nlmsghdr) std::array<char, 65536> buffer;
        const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return system_error("recv", kWhat);
        more = TRY(read_routes({buffer.data(), static_cast<std::size_t>(size)}, kind, routes));
      }
    }
  }
  return routes;
}

}  // namespace

Result<std::vector<Prefix>> local_routes() {
  static constexpr std::array kFilters{Filter{.table = RT_TABLE_LOCAL, .type = RTN_LOCAL}};
  return routes_of(RouteKind::local, kFilters);
}

Result<std::vector<Prefix>> on_link_routes() {
  static constexpr std::array kFilters{
      Filter{.table = RT_TABLE_MAIN, .type = RTN_UNICAST, .protocol = RTPROT_KERNEL},
      Filter{.table = RT_TABLE_MAIN, .type = RTN_UNICAST, .protocol = RTPROT_RA},
      Filter{.table = RT_TABLE_MAIN, .type = RTN_UNICAST, .protocol = RTPROT_DHCP}};
  return routes_of(RouteKind::on_link, kFilters);
}

}  // namespace coop::host
