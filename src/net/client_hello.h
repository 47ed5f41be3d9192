// The first message of a TLS client, as far as it says which host it wants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coop::net {

struct ClientHello {
  enum class Kind : std::uint8_t {
    need_more,  // so far it may become one
    not_tls,
    malformed,  // TLS, but not as anybody sends it: two names, a name that is none, lengths that do not fit
    no_name,  // it names no host
    named,
  };
  Kind kind = Kind::need_more;
  std::string name{};      // as host_name() spells it
  bool encrypted = false;  // it also carries an encrypted one (ECH), or pretends to
  std::size_t size = 0;    // how many bytes it takes, once it is whole
  bool operator==(const ClientHello&) const = default;
};

// Of what has arrived so far. Never asks for more than 20 KB.
ClientHello read_client_hello(std::string_view bytes);

// A server of TLS 1.3 may ask for a second hello, which is as readable as the first, and may name another host. So many
// bytes of its answer tell.
inline constexpr std::size_t kServerHelloHead = 43;
bool asks_for_second_hello(std::string_view answer);
ClientHello read_second_hello(std::string_view bytes);

}  // namespace coop::net
