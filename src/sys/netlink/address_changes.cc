#include "sys/netlink/address_changes.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "sys/netlink/route.h"

namespace coop::netlink {

namespace {

constexpr std::string_view kWhat = "changes of addresses";
constexpr int kMostAtOnce = 1000;  // the loop has others to serve

}  // namespace

Result<AddressChanges> AddressChanges::open() {
  AddressChanges made;
  made.socket_.reset(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!made.socket_.valid()) return system_error("socket", "netlink");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups =
      RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (::bind(made.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return system_error("bind", kWhat);
  return made;
}

Result<bool> AddressChanges::read() {
  bool told = false;
  for (int count = 0; count < kMostAtOnce; ++count) {
    alignas(nlmsghdr) std::array<char, 65536> buffer;
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size >= 0) {
      told = told || tells_of_addresses({buffer.data(), static_cast<std::size_t>(size)});
      continue;
    }
    if (errno == EAGAIN) break;
    if (errno == EINTR) continue;
    if (errno != ENOBUFS) return system_error("recv", kWhat);
    told = true;  // the kernel had more to tell than the socket holds
  }
  return told;
}

bool tells_of_addresses(std::string_view messages) {
  while (!messages.empty()) {
    nlmsghdr header{};
    if (messages.size() < sizeof header) return true;
    std::memcpy(&header, messages.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > messages.size()) return true;
    if (header.nlmsg_type == RTM_NEWADDR) return true;
    if (header.nlmsg_type == RTM_NEWROUTE) {
      const std::optional<Route> route =
          parse_route(messages.substr(sizeof header, header.nlmsg_len - sizeof header));
      if (!route || route->is_local() || route->is_on_link()) return true;
    }
    messages.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
  }
  return false;
}

}  // namespace coop::netlink
