// A proxy for programs inside: HTTP and SOCKS5 on the same port, distinguished by the first byte.
#pragma once

#include "egress/connection.h"
#include "egress/proxy/request.h"

namespace coop::egress {

// Answers success only after the outside connection is established, otherwise with the reason.
class ProxyConnection final : public Connection {
 public:
  using Connection::Connection;
  void start() override;

 private:
  enum class Speech : std::uint8_t { unknown, socks, connect, forward };
  void connected() override;
  void not_connected(Reached why) override;
  void hear_request();
  void read_request();
  void read_socks();
  void read_http();
  void go_where_asked(Target target);
  void bad_request(std::string problem, std::string_view reply);

  Speech speech_ = Speech::unknown;
  bool greeted_ = false;  // SOCKS: the request comes next
};

}  // namespace coop::egress
