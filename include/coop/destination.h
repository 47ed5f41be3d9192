// Destinations of network rules as text: parsed once, all decisions compare values.
#pragma once

#include <string>
#include <string_view>

#include "coop/result.h"
#include "coop/rule.h"

namespace coop {

// "10.0.0.0/8", always with the length.
std::string to_text(const Prefix& prefix);

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

}  // namespace coop
