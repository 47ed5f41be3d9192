// Addresses as bytes in network order (4 or 16), as text, and as the kernel takes them; and which of
// them are nobody's to reach.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coop::net {

// As inet_ntop() writes it; empty for what has neither 4 nor 16 bytes.
std::string address_text(std::string_view bytes);

// As inet_pton() reads it: no other form of an address is one.
std::optional<std::string> address_bytes(std::string_view text);

// From bytes; the size of what was filled, 0 when they are no address.
socklen_t fill_socket_address(sockaddr_storage& storage, std::string_view bytes,
                              std::uint16_t port);

// Why an address must not be reached: loopback, private, link-local (metadata among them), CGNAT,
// broadcast, unspecified, multicast, reserved, and all IPv6 forms that carry an IPv4 address (mapped,
// compatible, NAT64, 6to4, Teredo); empty when it may. What address_bytes() does not read is forbidden.
std::string why_forbidden(std::string_view address);

// The same as networks, "10.0.0.0" and 8: none lies within another, as sets of nftables want them.
// AF_INET or AF_INET6.
std::vector<std::pair<std::string, unsigned>> forbidden_networks(int family);

}  // namespace coop::net
