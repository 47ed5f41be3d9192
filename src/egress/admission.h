// Accepts connections: the listeners of one worker, and limits per worker and for all workers
// together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sys/event_loop.h"

namespace coop::egress {

// A listener's turn: so many connections before others have theirs, and a rest after one that could not be accepted.
inline constexpr int kMostAccepted = 64;
inline constexpr std::chrono::milliseconds kRest{100};

// For all workers of a sandbox together.
struct Budget {
  std::atomic<std::size_t> connections = 0;
  std::size_t most_total = 12000;
};

// Makes close() send RST at once (SO_LINGER 0).
void reset_on_close(const UniqueFd& socket);

// A worker at its own limit (of file descriptors) leaves new connections in the listen queue until
// one ends. At the limit of all workers together, new connections are reset.
class Admission {
 public:
  struct Leave {
    void operator()(Admission* admission) const { admission->leave(); }
  };
  using Slot =
      std::unique_ptr<Admission, Leave>;  // one connection's; destroying it admits the next
  using Arrived = std::function<void(UniqueFd client, Slot slot)>;

  // Both outlive it, and it outlives its slots. `full` is called whenever the limit is reached.
  Admission(EventLoop& loop, Budget& budget, std::size_t most, std::function<void()> full = {});
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  // Accepted sockets are non-blocking.
  Result<void> serve(UniqueFd listener, Arrived arrived);
  std::size_t connections() const { return connections_; }

 private:
  struct Door {
    UniqueFd listener{};
    Arrived arrived{};
  };
  void accept(const Door& door);
  void leave();
  Result<void> open(const Door& door);
  void open_all();
  void shut_all();
  void shut_for_a_while();

  EventLoop& loop_;
  Budget& budget_;
  std::size_t most_;
  std::function<void()> full_;
  std::size_t connections_ = 0;
  enum class State : std::uint8_t { open, full, resting } state_ = State::open;
  EventLoop::Timer rest_{};
  std::vector<std::unique_ptr<Door>> doors_{};
};

}  // namespace coop::egress
