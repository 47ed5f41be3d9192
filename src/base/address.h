// Addresses of the internet as bytes in network order (4 or 16), as text, and as the kernel takes them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coop {

// As inet_ntop() writes it; empty for what has neither 4 nor 16 bytes.
std::string address_text(std::string_view bytes);

// As inet_pton() reads it: no other form of an address is one.
std::optional<std::string> address_bytes(std::string_view text);

// From bytes; the size of what was filled, 0 when they are no address.
socklen_t fill_socket_address(sockaddr_storage& storage, std::string_view bytes,
                              std::uint16_t port);

}  // namespace coop
