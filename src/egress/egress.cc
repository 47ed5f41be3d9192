#include "egress/egress.h"

#include <utility>

#include "egress/connection.h"
#include "egress/gateway.h"
#include "egress/host_port.h"
#include "egress/proxy/server.h"

namespace coop::egress {

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

void Egress::begin(const std::shared_ptr<Connection>& connection) {
  connections_.insert(connection);
  connection->start();
}

Result<void> Egress::serve_gateway(UniqueFd listener) {
  return admission_.serve(std::move(listener), [this](UniqueFd client, Admission::Slot slot) {
    begin(std::make_shared<GatewayConnection>(*this, std::move(slot), std::move(client)));
  });
}

Result<void> Egress::serve_proxy(UniqueFd listener) {
  return admission_.serve(std::move(listener), [this](UniqueFd client, Admission::Slot slot) {
    begin(std::make_shared<ProxyConnection>(*this, std::move(slot), std::move(client)));
  });
}

Result<void> Egress::serve_host_port(UniqueFd listener, std::uint16_t port) {
  return admission_.serve(std::move(listener), [this, port](UniqueFd client, Admission::Slot slot) {
    begin(std::make_shared<HostPortConnection>(*this, std::move(slot), std::move(client), port));
  });
}

}  // namespace coop::egress
