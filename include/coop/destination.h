// The destination of a network rule. Parsed once from text; all decisions compare values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coop/origin.h"
#include "coop/result.h"

namespace coop {

// An address prefix.
struct Prefix {
  std::string address{};  // 4 or 16 bytes in network order; all bits behind `bits` are 0
  unsigned bits = 0;

  bool is_address() const { return bits == address.size() * 8; }
  bool operator==(const Prefix&) const = default;
};
// "10.0.0.0/8", always with the length.
std::string to_text(const Prefix& prefix);

struct Destination {
  enum class Kind : std::uint8_t { name, wildcard, network };
  Kind kind = Kind::name;
  std::string name{};                   // lower case; of "*.example.com": "example.com"
  Prefix network{};                     // one address is a network of its whole length
  std::optional<std::uint16_t> port{};  // unset: allows 80 and 443, denies all ports
  bool operator==(const Destination&) const = default;
};

// HOST[:PORT], *.example.com, 10.0.0.0/8, 10.0.0.0/8:5000, ::1, [::1]:443. Refused are numbers that some programs take
// for an address and others for a name ("127.1", "0x7f.1", "010.0.0.1"), names outside of ASCII, and IPv4 mapped into IPv6.
Result<Destination> parse_destination(std::string_view text);

// What UDP may be sent to: ADDRESS:PORT or NETWORK:PORT, IPv6 in brackets ([fd00::/8]:5000). Names are refused: a
// datagram carries none.
Result<Destination> parse_udp_destination(std::string_view text);

// As the two above read it: "example.com:8443", "10.0.0.0/8", "[fd00::1]:80".
std::string to_text(const Destination& destination);
// The same without the port and its brackets.
std::string host_text(const Destination& destination);

// A destination in a network list, and its origin.
struct DestinationRule {
  Destination destination{};
  Origin origin{};
  bool operator==(const DestinationRule&) const = default;
};

}  // namespace coop
