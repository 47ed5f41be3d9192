// The destination a program inside asked for, normalised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/name_table.h"
#include "egress/outbound.h"

namespace coop::egress {

struct Target {
  HostKind kind = HostKind::address;
  std::string host{};  // as host_name() or inet_ntop() spells it
  std::uint16_t port = 0;
  bool operator==(const Target&) const = default;
};

// `address`: 4 or 16 bytes in network order. A synthetic address becomes its name, and IPv4-mapped
// IPv6 becomes IPv4, which is what the kernel connects to: otherwise a rule about one form could be
// bypassed with the other.
Target target_of(const NameTable& table, std::string_view address, std::uint16_t port);
// The same for an address as inet_ntop() spells it.
Target target_of_text(const NameTable& table, const std::string& address, std::uint16_t port);

// "localhost", 127.0.0.0/8, ::1, and the unspecified addresses, which connect to loopback as well.
bool is_loopback(const Target& target);

}  // namespace coop::egress
