#include "egress/egress.h"

#include <utility>

#include "egress/connection.h"
#include "egress/gateway.h"
#include "egress/proxy/server.h"

namespace coop::egress {

namespace {

// A port inside that forwards to the host's loopback interface.
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

}  // namespace

Egress::Egress(EventLoop& loop, const NameTable& table, const policy::DestinationRules& rules,
               Budget& budget, EgressOptions options)
    : loop_(loop),
      table_(table),
      rules_(rules),
      options_(std::move(options)),
      admission_(loop, budget, options_.most_connections, options_.crowded) {}

Egress::~Egress() {
  while (!connections_.empty()) {
    const std::shared_ptr<Connection> connection = *connections_.begin();
    connection->end(Closing::reset);
  }
}

template <typename Kind, typename... More>
Result<void> Egress::serve(UniqueFd listener, More... more) {
  return admission_.serve(std::move(listener), [this, more...](UniqueFd client,
                                                               Admission::Slot slot) {
    const auto made = std::make_shared<Kind>(*this, std::move(slot), std::move(client), more...);
    connections_.insert(made);
    made->start();
  });
}

Result<void> Egress::serve_gateway(UniqueFd listener) {
  return serve<GatewayConnection>(std::move(listener));
}

Result<void> Egress::serve_proxy(UniqueFd listener) {
  return serve<ProxyConnection>(std::move(listener));
}

Result<void> Egress::serve_host_port(UniqueFd listener, std::uint16_t port) {
  return serve<HostPortConnection>(std::move(listener), port);
}

}  // namespace coop::egress
