// Bytes between two sockets, both ways; large streams do not pass through our memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/event_loop.h"

namespace coop::net {

// Pipes for splice(2), lent while bytes stream: connections that rest hold none.
class PipePool {
 public:
  // None when too many are lent, or the system gives none that is worth it: then bytes are copied instead.
  std::optional<Pipe> take();
  void give_back(Pipe pipe, std::size_t bytes_left);

 private:
  std::vector<Pipe> idle_{};
  std::size_t lent_ = 0;
};

struct Relayed {
  std::uint64_t to_server = 0;
  std::uint64_t to_client = 0;
  bool broken = false;  // ended by an error, not by both sides
};

// Ends when both sides have, or one breaks: then `ended` is called, once, from the loop, and it may destroy the relay. A
// side that has said all it had to say may still listen.
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

  // Takes both sockets over from whoever watched them.
  Result<void> start();
  Relayed so_far() const { return {.to_server = up_.total, .to_client = down_.total}; }

 private:
  struct Direction {
    int from = -1;
    int to = -1;
    std::string held{};  // read, and not taken by the other side yet
    Pipe pipe{};
    std::size_t in_pipe = 0;
    std::uint64_t total = 0;
    bool streaming = false;  // much comes at once: worth a pipe
    bool finished = false;   // the end of `from` has been passed on
    bool wants_input = true;
    bool wants_room = false;
  };
  enum class Pumped : std::uint8_t { going, broken };
  Pumped pump(Direction& way);
  Pumped step(Direction& way);
  Pumped send_held(Direction& way);
  Pumped copy(Direction& way);
  Pumped fill(Direction& way);
  Pumped empty(Direction& way);
  static Pumped finish(Direction& way);
  void give_back_pipe(Direction& way);
  void ready(std::uint32_t events, int fd);
  void update();
  void forget();
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
