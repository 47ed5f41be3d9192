// The transparent way out: programs inside connect to where they want, and the firewall of their namespace leads them to us.
#pragma once

#include <string_view>

#include "net/connection.h"

namespace coop::net {

// Whose address is it, does a rule allow that host and port, which addresses has it outside, may those be reached, and does
// the TLS name, where there is one, agree. A refusal is a reset, at once; a client of HTTP on its own port is told the reason.
class GatewayConnection final : public Connection {
 public:
  using Connection::Connection;
  void start() override;

 private:
  void connected() override { inspect(); }
  void not_connected(Reached why) override;
  void hear_request();
};

// By the first bytes of a client. maybe: more are needed.
enum class SpeaksHttp : std::uint8_t { no, maybe, yes };
SpeaksHttp speaks_http(std::string_view first);

}  // namespace coop::net
