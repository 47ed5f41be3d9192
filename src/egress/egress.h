// All egress of a sandbox, as one worker thread serves it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "egress/admission.h"
#include "egress/name_table.h"
#include "egress/outbound.h"
#include "egress/relay.h"
#include "policy/destinations/judge.h"

namespace coop::egress {

class Connection;

struct OriginalDestination {
  std::string address{};  // 4 or 16 bytes in network order
  std::uint16_t port = 0;
};

// The destination of a connection before nftables redirected it (SO_ORIGINAL_DST).
Result<OriginalDestination> original_destination(int socket);

struct EgressOptions {
  OutboundOptions outbound{};
  std::function<Result<OriginalDestination>(int socket)> destination = original_destination;
  std::function<void(const NetworkEvent&)>
      record{};  // once per connection: a refusal at once, others at their end
  std::size_t most_connections = 4000;  // of this worker: each takes two descriptors
  std::function<void()> crowded{};      // called when that many are open
  // Timeout for a client's first message: a proxy request, a ClientHello.
  std::chrono::milliseconds head_time{15000};
  // How long a refused client may take to send an HTTP request and to read the reason.
  std::chrono::milliseconds refused_time{5000};
};

// Created, used and destroyed in the thread of its loop. Each worker has one.
class Egress {
 public:
  // The arguments outlive it.
  Egress(EventLoop& loop, const NameTable& table, const policy::DestinationRules& rules,
         Budget& budget, EgressOptions options);
  Egress(const Egress&) = delete;
  Egress& operator=(const Egress&) = delete;
  ~Egress();  // records connections that are still open

  // Redirected connections to any destination (gateway.h).
  Result<void> serve_gateway(UniqueFd listener);
  // HTTP and SOCKS5 (proxy/server.h).
  Result<void> serve_proxy(UniqueFd listener);
  // Forwards to this port of the host's loopback interface. No rules: the user has named the port.
  Result<void> serve_host_port(UniqueFd listener, std::uint16_t port);

  std::size_t connections() const { return admission_.connections(); }

  // For the connections.
  EventLoop& loop() { return loop_; }
  const NameTable& table() const { return table_; }
  const policy::DestinationRules& rules() const { return rules_; }
  const EgressOptions& options() const { return options_; }
  PipePool& pipes() { return pipes_; }
  void forget(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }

 private:
  template <typename Kind, typename... More>
  Result<void> serve(UniqueFd listener, More... more);

  EventLoop& loop_;
  const NameTable& table_;
  const policy::DestinationRules& rules_;
  EgressOptions options_;
  PipePool pipes_{};
  Admission admission_;
  std::unordered_set<std::shared_ptr<Connection>> connections_{};
};

}  // namespace coop::egress
