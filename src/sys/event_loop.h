// One thread that waits for many descriptors (epoll): used by the supervisor and by the egress.
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

namespace coop {

// All functions except post() and stop() must be called from the loop's thread, or before it runs.
class EventLoop {
 public:
  using Ready = std::function<void(std::uint32_t events)>;  // of epoll(7), level-triggered
  using Task = std::function<void()>;
  using Timer = std::pair<std::chrono::steady_clock::time_point, std::uint64_t>;

  static Result<std::unique_ptr<EventLoop>> make();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // The descriptor stays the caller's, who must forget() it before it is closed. `ready` may forget it itself. Watching
  // one that is watched already replaces its `ready`. What epoll cannot wait for (a regular file) is always ready.
  Result<void> watch(int fd, std::uint32_t events, Ready ready);
  bool watches(int fd) { return find(fd) != nullptr; }
  void change(int fd, std::uint32_t events);
  void forget(int fd);
  // Ignores `fd` for `time`: after EMFILE a listener stays readable and would spin the loop.
  void rest(int fd, std::chrono::milliseconds time);

  Timer at(std::chrono::steady_clock::time_point time, Task task);
  Timer after(std::chrono::milliseconds time, Task task);
  void cancel(const Timer& timer);

  void post(Task task);  // from any thread: runs in the loop, soon
  void run();            // until stop()
  // Until `done`, which is asked before each wait; false when stop() came first. Timers that are due come before descriptors: one that is always ready
  // puts them off by one round at most.
  bool run_until(const std::function<bool()>& done);
  void stop();  // from any thread

 private:
  struct Watched {
    std::uint32_t generation = 0;
    std::uint32_t events = 0;
    std::shared_ptr<Ready> ready{};
    bool always = false;  // epoll does not know it
  };
  EventLoop() = default;
  Watched* find(int fd);  // null when it is not watched
  bool serve_always();    // what epoll does not know; false when there is none
  void run_posted();
  int run_timers();  // milliseconds until the next one; -1: there is none

  UniqueFd epoll_{};
  UniqueFd wake_{};
  std::uint32_t generation_ = 0;
  std::vector<Watched> watched_{};  // by descriptor
  std::vector<int> always_{};       // of these, what epoll does not know
  std::map<Timer, Task> timers_{};
  std::uint64_t timer_count_ = 0;
  std::mutex mutex_{};
  std::vector<Task> posted_{};
  bool stopped_ = false;
};

}  // namespace coop
