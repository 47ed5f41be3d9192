// Addresses that are refused unless a rule names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "coop/destination.h"

namespace coop::policy {

// The flag that would allow a refused destination.
enum class Remedy : std::uint8_t { none, allow_net, allow_udp, host_port };

// Why an address is refused, and what to suggest.
struct Forbidden {
  std::string_view reason{};  // "private"
  Remedy remedy = Remedy::allow_net;
  bool machine = false;  // an address of this machine
  // The network of this machine that the address is in: a rule about a part of it names the address.
  std::optional<Prefix> network{};
  bool operator==(const Forbidden&) const = default;
};

// Loopback, private, link-local (cloud metadata among them), CGNAT, broadcast, unspecified, multicast, reserved, and all
// IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo); nothing for an internet address.
// A network is forbidden when it holds a forbidden address.
std::optional<Forbidden> forbidden(const Prefix& network);

// The same as prefixes, none within another, as nftables sets want them. AF_INET or AF_INET6.
const std::vector<Prefix>& forbidden_networks(int family);

}  // namespace coop::policy
