// Ports of the host that forward into a sandbox: accepted on the host, connected inside.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "coop/policy.h"
#include "coop/sandbox.h"
#include "egress/relay.h"
#include "sys/event_loop.h"

namespace coop::egress {

// Only a socket created inside can connect to a server inside: each connection requests one from
// init.
class PublishedPorts {
 public:
  struct Options {
    std::function<Result<void>()> ask_for_socket{};  // the answer arrives in take_socket()
    std::function<void(const NetworkEvent&)> record{};
    std::size_t most_connections = 1000;
  };
  PublishedPorts(EventLoop& loop, Options options);  // the loop outlives it
  PublishedPorts(const PublishedPorts&) = delete;
  PublishedPorts& operator=(const PublishedPorts&) = delete;
  ~PublishedPorts();

  Result<void> serve(UniqueFd listener, const PublishedPort& port);
  // One for each request; they are interchangeable. An invalid one: init could not create it.
  void take_socket(UniqueFd socket);

 private:
  struct Visitor {
    UniqueFd client{};
    UniqueFd server{};
    NetworkEvent event{};
    EventLoop::Timer deadline{};
    std::unique_ptr<Relay> relay{};
  };
  using Place = std::list<Visitor>::iterator;
  void accept(int listener, const PublishedPort& port);
  void receive(UniqueFd client, const PublishedPort& port);
  void connected(Place visitor);
  void end(Place visitor, std::string problem);

  EventLoop& loop_;
  Options options_;
  PipePool pipes_{};
  std::list<std::pair<UniqueFd, PublishedPort>> listeners_{};
  std::list<Visitor> visitors_{};
  std::deque<Place> waiting_{};  // connections that wait for a socket
  std::size_t asked_ = 0;        // unanswered requests, including those of connections closed since
};

}  // namespace coop::egress
