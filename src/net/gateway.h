// Connections of a sandbox to the world: taken inside, judged, and made outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "net/host_rules.h"
#include "net/name_table.h"
#include "net/relay.h"

namespace coop::net {

struct Destination {
  std::string address{};  // 4 or 16 bytes in network order
  std::uint16_t port = 0;
};

// Where a connection was going before the firewall of its namespace led it to us.
Result<Destination> original_destination(int socket);

// What became of one connection.
struct ConnectionEvent {
  std::string host{};     // as it was asked for: a name, or an address
  std::string address{};  // the one outside, once there is one
  std::uint16_t port = 0;
  bool allowed = false;
  std::string rule{};
  std::string problem{};  // why an allowed one did not come about
  Relayed bytes{};
};

struct GatewayOptions {
  using Addresses = Result<std::vector<std::string>>;  // as inet_ntop() writes them
  // Finds a name's addresses outside; calls back from the loop.
  std::function<void(const std::string& name, std::function<void(Addresses)> found)> look_up{};
  // Why an address must not be reached under a name, whatever the rules say of that; empty: it may.
  std::function<std::string(const std::string& address)> why_forbidden{};
  std::function<Result<Destination>(int socket)> destination = original_destination;
  std::function<void(const ConnectionEvent&)> record{};
};

// For each connection: whose address is it, does a rule allow that host and port, which addresses has it outside, may those be
// reached, and does the TLS name, where there is one, agree. A refusal is a reset, at once.
class Gateway {
 public:
  // All of these outlive the gateway.
  Gateway(EventLoop& loop, const NameTable& table, const HostRules& rules, GatewayOptions options);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway();

  Result<void> serve(UniqueFd listener);
  std::size_t connections() const { return connections_.size(); }

  class Connection;

 private:
  friend class Connection;
  void accept(int listener);

  EventLoop& loop_;
  const NameTable& table_;
  const HostRules& rules_;
  GatewayOptions options_;
  PipePool pipes_{};
  std::vector<UniqueFd> listeners_{};
  std::unordered_set<std::shared_ptr<Connection>> connections_{};
};

}  // namespace coop::net
