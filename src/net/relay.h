// Bytes between two sockets, both ways, without passing through our memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"

namespace coop::net {

// Pipes for splice(2), lent while bytes are in them: connections that rest hold none.
class PipePool {
 public:
  Result<Pipe> take();
  void give_back(Pipe pipe);  // empty

 private:
  std::vector<Pipe> idle_{};
};

struct Relayed {
  std::uint64_t to_server = 0;
  std::uint64_t to_client = 0;
  bool broken = false;  // ended by an error, not by both sides
};

// Ends when both sides have, or one breaks: then `ended` is called, once, from the loop, and it may destroy the relay. A side that has
// said all it had to say may still listen.
class Relay {
 public:
  struct Sockets {
    UniqueFd client{};
    UniqueFd server{};
  };
  // Both sockets do not block. `first` is what was read of the client before.
  Relay(EventLoop& loop, PipePool& pipes, Sockets sockets, std::string first,
        std::function<void(const Relayed&)> ended);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  Result<void> start();

 private:
  struct Direction {
    int from = -1;
    int to = -1;
    std::string first{};
    Pipe pipe{};
    std::size_t in_pipe = 0;
    std::uint64_t total = 0;
    bool finished = false;  // the end of `from` has been passed on
    bool wants_input = true;
    bool wants_room = false;
  };
  enum class Pumped : std::uint8_t { going, broken };
  Pumped pump(Direction& way);
  Pumped send_first(Direction& way);
  Pumped fill(Direction& way);
  Pumped empty(Direction& way);
  void give_back_pipe(Direction& way);
  void ready(std::uint32_t events, int fd);
  void update();
  void end(bool broken);

  EventLoop& loop_;
  PipePool& pipes_;
  Sockets sockets_;
  Direction up_{};  // from the client to the server
  Direction down_{};
  std::function<void(const Relayed&)> ended_;
  bool watching_ = false;
};

}  // namespace coop::net
