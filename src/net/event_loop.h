// One thread that waits for many descriptors: what the egress of a sandbox runs on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::net {

// Everything but post() and stop() is for the thread that runs it, or before it runs.
class EventLoop {
 public:
  using Ready = std::function<void(std::uint32_t events)>;  // of epoll(7), level-triggered
  using Task = std::function<void()>;
  using Timer = std::pair<std::chrono::steady_clock::time_point, std::uint64_t>;

  static Result<std::unique_ptr<EventLoop>> make();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // The descriptor stays the caller's, who must forget() it before it is closed. `ready` may forget it itself. Who watches
  // one that is watched already takes it over.
  Result<void> watch(int fd, std::uint32_t events, Ready ready);
  void change(int fd, std::uint32_t events);
  void forget(int fd);
  // Not looked at for so long: a listener for which there is no descriptor stays ready, and would keep us busy.
  void rest(int fd, std::chrono::milliseconds time);

  Timer after(std::chrono::milliseconds time, Task task);
  void cancel(const Timer& timer);

  void post(Task task);  // from any thread: done in the loop, soon
  void run();            // until stop()
  void stop();           // from any thread

 private:
  struct Watched {
    std::uint32_t generation = 0;
    std::uint32_t events = 0;
    std::shared_ptr<Ready> ready{};
  };
  EventLoop() = default;
  Watched* find(int fd);  // nothing when it is not watched
  void run_posted();
  int run_timers();  // milliseconds until the next one; -1: there is none

  UniqueFd epoll_{};
  UniqueFd wake_{};
  std::uint32_t generation_ = 0;
  std::vector<Watched> watched_{};  // by descriptor
  std::map<Timer, Task> timers_{};
  std::uint64_t timer_count_ = 0;
  std::mutex mutex_{};
  std::vector<Task> posted_{};
  bool stopped_ = false;
};

}  // namespace coop::net
