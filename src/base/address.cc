#include "base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
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

std::string_view unmapped(std::string_view bytes) {
  constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
  return bytes.size() == 16 && bytes.starts_with(kMapped) ? bytes.substr(kMapped.size()) : bytes;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::string> bytes = address_bytes(text.substr(0, slash));
  if (!bytes) return std::nullopt;
  if (slash == text.size()) return prefix_of(*bytes);
  const std::string_view length = text.substr(slash + 1);
  // A number without leading zeros: some programs read those as octal.
  if (length.starts_with('0') && length.size() > 1) return std::nullopt;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (error != std::errc() || end != length.data() + length.size() || bits > bytes->size() * 8)
    return std::nullopt;
  return prefix_of(*bytes, bits);
}

Prefix prefix_of(std::string_view bytes, unsigned bits) {
  Prefix prefix{.address = std::string(bytes), .bits = bits};
  for (std::size_t bit = bits; bit < bytes.size() * 8; ++bit)
    prefix.address[bit / 8] =
        static_cast<char>(prefix.address[bit / 8] & ~static_cast<int>(0x80U >> (bit % 8)));
  return prefix;
}

Prefix prefix_of(std::string_view address) {
  return {.address = std::string(address), .bits = static_cast<unsigned>(address.size() * 8)};
}

bool is_within(const Prefix& inner, const Prefix& outer) {
  return inner.address.size() == outer.address.size() && inner.bits >= outer.bits &&
         prefix_of(inner.address, outer.bits) == outer;
}

bool overlap(const Prefix& one, const Prefix& other) {
  return is_within(one, other) || is_within(other, one);
}

bool is_loopback(const Prefix& network) {
  static const Prefix kFour = parse_prefix("127.0.0.0/8").value_or(Prefix{});
  static const Prefix kSix = parse_prefix("::1").value_or(Prefix{});
  return is_within(network, kFour) || is_within(network, kSix);
}

std::optional<HostAndPort> split_port(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = std::min(text.find(bracketed ? ']' : ':'), text.size());
  const std::string_view rest = text.substr(std::min(end + (bracketed ? 1 : 0), text.size()));
  if ((bracketed && end == text.size()) || (!rest.empty() && rest.front() != ':'))
    return std::nullopt;
  HostAndPort split{.host = text.substr(0, end), .bracketed = bracketed};
  if (bracketed) split.host.remove_prefix(1);
  if (!rest.empty()) split.port = rest.substr(1);
  return split;
}

std::string with_port(std::string_view host, std::uint16_t port) {
  const bool bracketed = host.contains(':');
  return (bracketed ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(port);
}

std::string to_text(const Prefix& prefix) {
  return address_text(prefix.address) + "/" + std::to_string(prefix.bits);
}

std::string host_text(const Destination& destination) {
  switch (destination.kind) {
    case Destination::Kind::name: return destination.name;
    case Destination::Kind::wildcard: return "*." + destination.name;
    case Destination::Kind::network: break;
  }
  return destination.network.is_address() ? address_text(destination.network.address)
                                          : to_text(destination.network);
}

std::string to_text(const Destination& destination) {
  const std::string host = host_text(destination);
  return destination.port ? with_port(host, *destination.port) : host;
}

}  // namespace coop
