// IP addresses as bytes in network order (4 or 16), as text, as prefixes, and as socket addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coop/destination.h"

namespace coop {

// As inet_ntop() writes it; empty unless there are 4 or 16 bytes.
std::string address_text(std::string_view bytes);

// As inet_pton() parses it; no other form is accepted.
std::optional<std::string> address_bytes(std::string_view text);

// From bytes; returns the size of the socket address, 0 if they are no address.
socklen_t fill_socket_address(sockaddr_storage& storage, std::string_view bytes,
                              std::uint16_t port);

// IPv4 mapped into IPv6 (::ffff:10.0.0.1) without the mapping: the kernel connects to the IPv4 address.
std::string_view unmapped(std::string_view bytes);

// "10.0.0.0/8", or an address alone; bits behind the length become 0.
std::optional<Prefix> parse_prefix(std::string_view text);
Prefix prefix_of(std::string_view bytes, unsigned bits);
Prefix prefix_of(std::string_view address);  // of its whole length

// Whether every address of `inner` is one of `outer`.
bool is_within(const Prefix& inner, const Prefix& outer);
bool overlap(const Prefix& one, const Prefix& other);

// 127.0.0.0/8 or ::1, or a part of them. Not 0.0.0.0 and ::, which only connect() takes for loopback.
bool is_loopback(const Prefix& network);

struct HostAndPort {
  std::string_view host{};  // without brackets
  std::optional<std::string_view> port{};
  bool bracketed = false;
};
// HOST, HOST:PORT, [ADDRESS] and [ADDRESS]:PORT; the port is what follows the first colon behind the host, and may be any
// text. Nothing: there is no "]" to a "[", or something else than a colon behind it.
std::optional<HostAndPort> split_port(std::string_view text);

// "example.com:80", "[::1]:80".
std::string with_port(std::string_view host, std::uint16_t port);

}  // namespace coop
