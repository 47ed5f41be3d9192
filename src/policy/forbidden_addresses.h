// Addresses that are nobody's to reach unless a rule names them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coop::policy {

// Why an address must not be reached: loopback, private, link-local (metadata among them), CGNAT,
// broadcast, unspecified, multicast, reserved, and all IPv6 forms that carry an IPv4 address (mapped,
// compatible, NAT64, 6to4, Teredo); empty when it may. What address_bytes() does not read is forbidden.
std::string why_forbidden(std::string_view address);

// The same as networks, "10.0.0.0" and 8: none lies within another, as sets of nftables want them.
// AF_INET or AF_INET6.
std::vector<std::pair<std::string, unsigned>> forbidden_networks(int family);

}  // namespace coop::policy
