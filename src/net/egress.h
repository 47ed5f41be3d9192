// All ways out of a sandbox, as one worker thread serves them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "net/admission.h"
#include "net/host_rules.h"
#include "net/name_table.h"
#include "net/outbound.h"
#include "net/relay.h"

namespace coop::net {

class Connection;

struct Destination {
  std::string address{};  // 4 or 16 bytes in network order
  std::uint16_t port = 0;
};

// Where a connection was going before the firewall of its namespace led it to us.
Result<Destination> original_destination(int socket);

struct EgressOptions {
  OutboundOptions outbound{};
  std::function<Result<Destination>(int socket)> destination = original_destination;
  std::function<void(const NetworkEvent&)>
      record{};  // of each connection once: a refusal at once, others at their end
  std::size_t most_connections = 4000;  // of this worker: each takes two descriptors
  std::function<void()> crowded{};      // called when there are so many
  // How long a client may take for what it begins with: a request to a proxy, the hello of its TLS.
  std::chrono::milliseconds head_time{15000};
  // How long a refused client may take to show that it speaks HTTP, and to read why.
  std::chrono::milliseconds refused_time{5000};
};

// Made, used and destroyed in the thread of its loop. Of several workers, each has one.
class Egress {
 public:
  // All of these outlive it.
  Egress(EventLoop& loop, const NameTable& table, const HostRules& rules, Budget& budget,
         EgressOptions options);
  Egress(const Egress&) = delete;
  Egress& operator=(const Egress&) = delete;
  ~Egress();  // records what still was connected

  // Connections that were going anywhere (gateway.h).
  Result<void> serve_gateway(UniqueFd listener);
  // HTTP and SOCKS5 (proxy_server.h).
  Result<void> serve_proxy(UniqueFd listener);
  // To this port of the host's loopback. No rules: the user has named the port.
  Result<void> serve_host_port(UniqueFd listener, std::uint16_t port);

  std::size_t connections() const { return admission_.connections(); }

  // For the connections.
  EventLoop& loop() { return loop_; }
  const NameTable& table() const { return table_; }
  const HostRules& rules() const { return rules_; }
  const EgressOptions& options() const { return options_; }
  PipePool& pipes() { return pipes_; }
  void forget(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }

 private:
  void begin(const std::shared_ptr<Connection>& connection);

  EventLoop& loop_;
  const NameTable& table_;
  const HostRules& rules_;
  EgressOptions options_;
  PipePool pipes_{};
  Admission admission_;
  std::unordered_set<std::shared_ptr<Connection>> connections_{};
};

}  // namespace coop::net
