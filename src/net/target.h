// Where somebody inside wants to go, in one spelling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/name_table.h"
#include "net/outbound.h"

namespace coop::net {

struct Target {
  HostKind kind = HostKind::address;
  std::string host{};  // as host_name() or inet_ntop() spells it
  std::uint16_t port = 0;
  bool operator==(const Target&) const = default;
};

// `address`: 4 or 16 bytes in network order. One that stands for a name becomes that name, and IPv4 inside of IPv6 becomes
// IPv4, which is what the kernel connects to: else a rule about one could be passed by with the other.
Target target_of(const NameTable& table, std::string_view address, std::uint16_t port);
// The same for an address as inet_ntop() spells it.
Target target_of_text(const NameTable& table, const std::string& address, std::uint16_t port);

// "localhost", 127.0.0.0/8, ::1, and the addresses of nobody, which lead there as well.
bool is_loopback(const Target& target);

}  // namespace coop::net
