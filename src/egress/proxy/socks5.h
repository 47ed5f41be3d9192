// SOCKS version 5, server side: incremental parsing of the client's messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/target.h"

namespace coop::egress {

enum class Arrived : std::uint8_t { need_more, whole, bad };

struct SocksGreeting {
  Arrived state = Arrived::need_more;
  std::size_t size = 0;  // of the whole message
  bool without_password = false;
  bool operator==(const SocksGreeting&) const = default;
};

// Reply codes of RFC 1928.
enum class SocksReply : std::uint8_t {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  host_unreachable = 4,
  connection_refused = 5,
  command_not_supported = 7,
  address_not_supported = 8,
};

struct SocksRequest {
  Arrived state = Arrived::need_more;
  std::size_t size = 0;
  Target target{};
  SocksReply problem = SocksReply::general_failure;  // the reply code for a bad one
  bool operator==(const SocksRequest&) const = default;
};

SocksGreeting read_socks_greeting(std::string_view bytes);
// CONNECT only.
SocksRequest read_socks_request(std::string_view bytes);

std::string socks_method(const SocksGreeting& greeting);  // the METHOD reply
std::string socks_reply(SocksReply reply);

}  // namespace coop::egress
