// A port inside that forwards to the host's loopback interface.
#pragma once

#include "egress/connection.h"

namespace coop::egress {

class HostPortConnection final : public Connection {
 public:
  HostPortConnection(Egress& egress, Admission::Slot slot, UniqueFd client, std::uint16_t port)
      : Connection(egress, std::move(slot), std::move(client)) {
    event_.kind = NetworkEvent::Kind::host_port;
    event_.host = "localhost";
    event_.port = port;
    event_.allowed = true;
    event_.rule = Rule{Origin::of_flag("--host-port", std::to_string(port))};
  }
  void start() override { go_to({"127.0.0.1", "::1"}); }

 private:
  void connected() override { relay(); }
  void not_connected(Reached) override { end(Closing::reset); }
};

}  // namespace coop::egress
