// Who may come in: the listeners of one worker, and how many connections it and all workers together may have.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/event_loop.h"

namespace coop::net {

// Of all workers of a sandbox together.
struct Budget {
  std::atomic<std::size_t> connections = 0;
  std::size_t most_total = 12000;
};

// Closing it then tells the other side at once, instead of letting it wait.
void reset_on_close(const UniqueFd& socket);

// A worker at its own limit (it has only so many descriptors) leaves new connections in their queue until one has ended. When
// all workers together are at theirs, new ones are reset.
class Admission {
 public:
  // One connection's place; the next may come when it is destroyed.
  class Slot {
   public:
    explicit Slot(Admission& admission) : admission_(&admission) {}
    Slot(Slot&& other) noexcept : admission_(std::exchange(other.admission_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (admission_ != nullptr) admission_->leave();
    }

   private:
    Admission* admission_;
  };
  using Arrived = std::function<void(UniqueFd client, Slot slot)>;

  // Both outlive it, and it outlives its slots.
  // `full` is called whenever it has reached its limit.
  Admission(EventLoop& loop, Budget& budget, std::size_t most, std::function<void()> full = {});
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  // What arrives does not block.
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

}  // namespace coop::net
