// Parses a TLS ClientHello for its server name (SNI).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coop::egress {

struct ClientHello {
  enum class Kind : std::uint8_t {
    need_more,  // incomplete so far
    not_tls,
    malformed,  // TLS, but invalid: two names, an invalid name, lengths that do not match
    no_name,    // no SNI extension
    named,
  };
  Kind kind = Kind::need_more;
  std::string name{};      // as host_name() spells it
  bool encrypted = false;  // also has an encrypted_client_hello extension (ECH or GREASE)
  std::size_t size = 0;    // bytes of the complete message
  bool operator==(const ClientHello&) const = default;
};

// Parses what has arrived so far. Never needs more than 20 KB.
ClientHello read_client_hello(std::string_view bytes);

// A TLS 1.3 server may request a second ClientHello (HelloRetryRequest), which is also in plain
// text and could name another host. This many bytes of the answer show it.
inline constexpr std::size_t kServerHelloHead = 43;
bool asks_for_second_hello(std::string_view answer);
ClientHello read_second_hello(std::string_view bytes);

}  // namespace coop::egress
