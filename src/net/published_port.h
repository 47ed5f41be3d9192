// Ports of the host that lead into a sandbox: connections are taken here, and made there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "coop/policy.h"
#include "coop/sandbox.h"
#include "net/event_loop.h"
#include "net/relay.h"

namespace coop::net {

// Only a socket that was made inside can reach what listens inside: each connection asks for one.
class PublishedPorts {
 public:
  struct Options {
    std::function<Result<void>()> ask_for_socket{};  // the answer comes to take_socket()
    std::function<void(const NetworkEvent&)> record{};
    std::size_t most_connections = 1000;
  };
  PublishedPorts(EventLoop& loop, Options options);  // the loop outlives it
  PublishedPorts(const PublishedPorts&) = delete;
  PublishedPorts& operator=(const PublishedPorts&) = delete;
  ~PublishedPorts();

  Result<void> serve(UniqueFd listener, const PublishedPort& port);
  // One for each question, and each as good as the others. One that is none: the sandbox could not make it.
  void take_socket(UniqueFd socket);

 private:
  struct Visitor {
    UniqueFd client{};
    UniqueFd server{};
    NetworkEvent event{};
    std::uint16_t port = 0;
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
  std::deque<Place> waiting_{};  // for a socket
  std::size_t asked_ = 0;        // questions without an answer: of some, whoever asked has gone
};

}  // namespace coop::net
