// Hosts in a network list: HOST[:PORT], *.example.com, 10.0.0.0/8, ::1, [::1]:443.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::policy {

// The pattern in lower case, without brackets that enclose no port's address, when it is one. Numbers that some programs take for an address and others
// for a name ("127.1", "0x7f.1", "010.0.0.1") are refused, as are names that are not ASCII
// and IPv4 in the form of IPv6.
Result<std::string> check_host_pattern(std::string_view text);

// What UDP may be sent to, in lower case: ADDRESS:PORT or NETWORK:PORT, IPv6 in brackets ([fd00::/8]:5000).
// Names are refused: there is nothing in a datagram by which a name could be told.
Result<std::string> check_udp_pattern(std::string_view text);

}  // namespace coop::policy
