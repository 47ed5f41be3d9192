#include "host/machine/local_routes.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/address.h"
#include "sys/fd.h"
#include "sys/netlink/batch.h"

namespace coop::host {

namespace {

constexpr std::string_view kWhat = "local routes";

// A route to everything (TPROXY) has no destination: it makes no addresses.
void add_route(std::string_view message, std::vector<Prefix>& routes) {
  rtmsg header{};
  if (message.size() < sizeof header) return;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.rtm_type != RTN_LOCAL) return;
  message.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(sizeof header), message.size()));
  while (message.size() >= sizeof(rtattr)) {
    rtattr attribute{};
    std::memcpy(&attribute, message.data(), sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > message.size()) return;
    const std::string_view value =
        message.substr(sizeof attribute, attribute.rta_len - sizeof attribute);
    if (attribute.rta_type == RTA_DST && (value.size() == 4 || value.size() == 16))
      routes.push_back(prefix_of(value, header.rtm_dst_len));
    message.remove_prefix(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), message.size()));
  }
}

// The kernel leaves out the other tables and kinds, which may be very many (Linux 4.20).
std::string question_for(int family) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(family);
  header.rtm_table = RT_TABLE_LOCAL;
  header.rtm_type = RTN_LOCAL;
  netlink::NetlinkBatch batch;
  batch.begin(RTM_GETROUTE, NLM_F_DUMP, netlink::bytes_of(header));
  batch.end();
  return batch.bytes();
}

}  // namespace

Result<bool> read_local_routes(std::string_view messages, std::vector<Prefix>& routes) {
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
    if (header.nlmsg_type == RTM_NEWROUTE) add_route(body, routes);
    messages.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
  }
  return true;
}

Result<std::vector<Prefix>> local_routes() {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return system_error("socket", "netlink");
  const int on = 1;
  // Fails on an older kernel, which sends all routes.
  ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  std::vector<Prefix> routes;
  for (const int family : {AF_INET, AF_INET6}) {
    const std::string question = question_for(family);
    if (::send(socket.get(), question.data(), question.size(), 0) < 0)
      return system_error("send", kWhat);
    for (bool more = true; more;) {
      alignas(nlmsghdr) std::array<char, 65536> buffer;
      const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return system_error("recv", kWhat);
      more = TRY(read_local_routes({buffer.data(), static_cast<std::size_t>(size)}, routes));
    }
  }
  return routes;
}

}  // namespace coop::host
