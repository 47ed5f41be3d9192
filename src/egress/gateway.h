// Transparent egress: programs inside connect to any address, and nftables redirects them to us.
#pragma once

#include <string_view>

#include "egress/connection.h"

namespace coop::egress {

// Maps the address to a name, applies the rules, resolves the name, checks its addresses, and
// compares the TLS server name. A refused connection gets RST at once; an HTTP client on port 80
// gets the reason.
class GatewayConnection final : public Connection {
 public:
  using Connection::Connection;
  void start() override;

 private:
  void connected() override { inspect(); }
  void not_connected(Reached why) override;
  void hear_request();
};

// Judged by the client's first bytes. maybe: more are needed.
enum class SpeaksHttp : std::uint8_t { no, maybe, yes };
SpeaksHttp speaks_http(std::string_view first);

}  // namespace coop::egress
