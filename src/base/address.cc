#include "base/address.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace coop {

std::string address_text(std::string_view bytes) {
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<std::string> address_bytes(std::string_view text) {
  const std::string terminated(text);
  if (terminated.size() != std::strlen(terminated.c_str())) return std::nullopt;
  std::string bytes(16, '\0');
  if (::inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  if (::inet_pton(AF_INET, terminated.c_str(), bytes.data()) == 1) return bytes;
  return std::nullopt;
}

socklen_t fill_socket_address(sockaddr_storage& storage, std::string_view bytes,
                              std::uint16_t port) {
  storage = {};
  if (bytes.size() == 4) {
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&four.sin_addr, bytes.data(), bytes.size());
    return sizeof four;
  }
  if (bytes.size() != 16) return 0;
  auto& six = reinterpret_cast<sockaddr_in6&>(storage);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  std::memcpy(&six.sin6_addr, bytes.data(), bytes.size());
  return sizeof six;
}

}  // namespace coop
