// The head of a request to an HTTP proxy: where it leads, or why it is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coop::net {

struct ProxyRequest {
  enum class Kind : std::uint8_t { need_more, bad, connect, forward };
  Kind kind = Kind::need_more;
  std::string host{};  // a name as host_name() spells it, or an address
  bool is_name = false;
  std::uint16_t port = 0;
  std::size_t size = 0;   // of the head
  std::string head{};     // forward: what the server gets instead of it
  std::string problem{};  // of a bad one, for the body of the answer
  bool operator==(const ProxyRequest&) const = default;
};

// CONNECT host:port, or METHOD http://host[:port]/path. Refused is whatever two readers could read differently: line ends other
// than CR LF, blanks before a colon, folded lines, NUL, both Content-Length and Transfer-Encoding or one of them twice, a Host that names
// another host than the URL. A forwarded request is the last of its connection: its head says close, so that nothing behind
// its body is taken for a second one with another host.
ProxyRequest read_proxy_request(std::string_view bytes);

}  // namespace coop::net
