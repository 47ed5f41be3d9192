// Relays bytes between two sockets, both ways; large streams use splice(2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sys/event_loop.h"

namespace coop::egress {

// Pipes for splice(2), lent while bytes stream: idle connections hold none.
class PipePool {
 public:
  // Nothing when too many are lent, or the kernel gives only small ones: then bytes are copied.
  std::optional<Pipe> take();
  void give_back(Pipe pipe, std::size_t bytes_left);

 private:
  std::vector<Pipe> idle_{};
  std::size_t lent_ = 0;
};

struct Relayed {
  std::uint64_t to_server = 0;
  std::uint64_t to_client = 0;
  bool broken = false;  // ended by an error, not by EOF on both sides
};

// Ends after EOF from both sides or an error: then `ended` is called, once, from the loop, and may
// destroy the relay. After EOF a side may still receive (half-close).
class Relay {
 public:
  struct Sockets {
    UniqueFd client{};
    UniqueFd server{};
  };
  // Moves from the first bytes of the server what may be passed on; true: the rest follows unchanged.
  using Rewrite = std::function<bool(std::string& bytes, std::string& out)>;
  // Both sockets are non-blocking. `first` has already been read from the client.
  Relay(EventLoop& loop, PipePool& pipes, Sockets sockets, std::string first,
        std::function<void(const Relayed&)> ended);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // Before start().
  void rewrite_answer(Rewrite rewrite) { down_.rewrite = std::move(rewrite); }
  // Replaces existing watches of both sockets.
  Result<void> start();
  Relayed so_far() const { return {.to_server = up_.total, .to_client = down_.total}; }

 private:
  struct Direction {
    int from = -1;
    int to = -1;
    std::string held{};  // read, not yet written to the other side
    std::string raw{};   // read, and not rewritten yet
    Rewrite rewrite{};   // null: nothing is rewritten any more
    Pipe pipe{};
    std::size_t in_pipe = 0;
    std::uint64_t total = 0;
    bool streaming = false;  // bulk transfer: worth a pipe
    bool finished = false;   // EOF of `from` has been passed on
    bool wants_input = true;
    bool wants_room = false;
  };
  enum class Pumped : std::uint8_t { going, broken };
  Pumped pump(Direction& way);
  Pumped step(Direction& way);
  Pumped send_held(Direction& way);
  Pumped copy(Direction& way);
  static Pumped copy_rewritten(Direction& way);
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
};

}  // namespace coop::egress
