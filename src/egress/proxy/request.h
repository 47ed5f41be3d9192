// The head of a request to an HTTP proxy: its destination, or why it is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/target.h"

namespace coop::egress {

struct ProxyRequest {
  enum class Kind : std::uint8_t { need_more, bad, connect, forward };
  Kind kind = Kind::need_more;
  Target target{};
  std::size_t size = 0;   // of the head
  std::string head{};     // forward: the rewritten head for the server
  std::string problem{};  // why it is bad, for the body of the answer
  bool operator==(const ProxyRequest&) const = default;
};

// CONNECT host:port, or METHOD http://host[:port]/path. Refuses everything that two parsers could
// read differently (request smuggling): line ends other than CR LF, blanks before a colon, folded
// lines, NUL, both Content-Length and Transfer-Encoding or one of them twice, a Host that differs
// from the URL. A forwarded request is the last of its connection: its head says "Connection:
// close", so that bytes after its body are not taken for a second request to another host.
ProxyRequest read_proxy_request(std::string_view bytes);

}  // namespace coop::egress
