#include "egress/proxy/socks5.h"

#include <optional>

#include "base/address.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

constexpr unsigned kVersion = 5;
constexpr unsigned kConnect = 1;
constexpr unsigned kIpv4 = 1;
constexpr unsigned kName = 3;
constexpr unsigned kIpv6 = 4;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

SocksRequest bad(SocksReply problem) { return {.state = Arrived::bad, .problem = problem}; }

}  // namespace

SocksGreeting read_socks_greeting(std::string_view bytes) {
  if (!bytes.empty() && byte_at(bytes, 0) != kVersion) return {.state = Arrived::bad};
  if (bytes.size() < 2) return {};
  const std::size_t size = 2 + byte_at(bytes, 1);
  if (size == 2) return {.state = Arrived::bad};
  if (bytes.size() < size) return {};
  return {.state = Arrived::whole,
          .size = size,
          .without_password = bytes.substr(2, size - 2).find('\0') != std::string_view::npos};
}

SocksRequest read_socks_request(std::string_view bytes) {
  if (!bytes.empty() && byte_at(bytes, 0) != kVersion) return bad(SocksReply::general_failure);
  if (bytes.size() >= 2 && byte_at(bytes, 1) != kConnect)
    return bad(SocksReply::command_not_supported);
  if (bytes.size() >= 3 && byte_at(bytes, 2) != 0) return bad(SocksReply::general_failure);
  if (bytes.size() < 5) return {};
  const unsigned kind = byte_at(bytes, 3);
  if (kind != kIpv4 && kind != kName && kind != kIpv6)
    return bad(SocksReply::address_not_supported);
  const std::size_t begin = kind == kName ? 5 : 4;
  const std::size_t length = kind == kName ? byte_at(bytes, 4) : (kind == kIpv4 ? 4U : 16U);
  if (bytes.size() < begin + length + 2) return {};
  const std::string_view host = bytes.substr(begin, length);
  const std::size_t at = begin + length;
  const std::optional<std::string> spelled =
      kind == kName ? policy::host_name(host) : address_text(host);
  const auto port = static_cast<std::uint16_t>(byte_at(bytes, at) << 8U | byte_at(bytes, at + 1));
  if (!spelled || port == 0) return bad(SocksReply::not_allowed);
  return {.state = Arrived::whole,
          .size = at + 2,
          .target = {kind == kName ? HostKind::name : HostKind::address, *spelled, port}};
}

std::string socks_method(const SocksGreeting& greeting) {
  return {static_cast<char>(kVersion), static_cast<char>(greeting.without_password ? 0 : 0xff)};
}

std::string socks_reply(SocksReply reply) {
  std::string bytes{static_cast<char>(kVersion), static_cast<char>(reply), '\0',
                    static_cast<char>(kIpv4)};
  return bytes + std::string(6, '\0');  // BND.ADDR 0.0.0.0:0: clients do not use it
}

}  // namespace coop::egress
