#include "egress/machine_addresses.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/address.h"
#include "sys/fd.h"
#include "sys/netlink/batch.h"
#include "sys/netlink/route.h"

namespace coop::egress {

namespace {

std::string question_for(std::string_view bytes) {
  rtmsg header{};
  header.rtm_family = bytes.size() == 4 ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(bytes.size() * 8);
  header.rtm_flags = RTM_F_FIB_MATCH;  // the route as it is in the table, with its network
  netlink::NetlinkBatch batch;
  batch.begin(RTM_GETROUTE, 0, netlink::bytes_of(header));
  batch.attribute(RTA_DST, bytes);
  batch.end();
  return batch.bytes();
}

using netlink::Route;

// Ask the routing table, since it decides where a connection goes: the list of interfaces lacks
// local routes, and bind() succeeds for every address with net.ipv4.ip_nonlocal_bind. Nothing: the kernel did not answer.
std::optional<Route> ask(int socket, std::string_view address) {
  const std::string question = question_for(address);
  if (::send(socket, question.data(), question.size(), 0) < 0) return std::nullopt;
  Route route;
  // The kernel sends the route, if there is one, and then the acknowledgement.
  for (;;) {
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    nlmsghdr header{};
    if (size < static_cast<ssize_t>(sizeof header)) return std::nullopt;
    std::memcpy(&header, buffer.data(), sizeof header);
    if (header.nlmsg_len < sizeof header) return std::nullopt;
    if (header.nlmsg_type == NLMSG_ERROR) return route;
    if (header.nlmsg_type != RTM_NEWROUTE) continue;
    const std::string_view message(buffer.data(), static_cast<std::size_t>(size));
    const std::optional<Route> told =
        netlink::parse_route(message.substr(0, header.nlmsg_len).substr(sizeof header));
    if (!told) return std::nullopt;
    route = *told;
  }
}

}  // namespace

Result<MachineAddresses> MachineAddresses::open() {
  MachineAddresses made;
  made.socket_.reset(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!made.socket_.valid()) return system_error("socket", "netlink");
  return made;
}

std::optional<policy::Forbidden> MachineAddresses::forbidden(const Prefix& address) const {
  std::optional<policy::Forbidden> found = policy::forbidden(address);
  const std::optional<Route> route = ask(socket_.get(), address.address);
  if (!route || route->is_local()) {
    if (!found) found = policy::Forbidden{.reason = "an address of this machine"};
    found->machine = true;
  } else if (!found && route->is_on_link()) {
    found = policy::Forbidden{.reason = "in a network of this machine"};
    if (route->destination.size() == address.address.size()) found->network = route->network();
  }
  return found;
}

}  // namespace coop::egress
