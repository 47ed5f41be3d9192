#include "sys/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace coop {

namespace {

using Clock = std::chrono::steady_clock;

// A descriptor may be closed and its number reused while events for it wait in our array: those
// must not reach the new one.
std::uint64_t key_of(int fd, std::uint32_t generation) {
  return std::uint64_t{generation} << 32U | static_cast<std::uint32_t>(fd);
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::make() {
  std::unique_ptr<EventLoop> loop(new EventLoop);
  loop->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_.valid()) return system_error("epoll_create1");
  loop->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->wake_.valid()) return system_error("eventfd");
  EventLoop& self = *loop;
  TRY(self.watch(self.wake_.get(), EPOLLIN, [&self](std::uint32_t) {
    eventfd_t count = 0;
    ::eventfd_read(self.wake_.get(), &count);
    self.run_posted();
  }));
  return loop;
}

EventLoop::Watched* EventLoop::find(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < watched_.size() && watched_[index].ready ? &watched_[index] : nullptr;
}

Result<void> EventLoop::watch(int fd, std::uint32_t events, Ready ready) {
  if (Watched* watched = find(fd)) {
    watched->ready = std::make_shared<Ready>(std::move(ready));
    change(fd, events);
    return {};
  }
  epoll_event event{.events = events, .data = {.u64 = key_of(fd, ++generation_)}};
  const bool always = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) < 0;
  if (always && errno != EPERM) return system_error("epoll_ctl");
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watched_.size()) watched_.resize(index + 1);
  watched_[index] = {generation_, events, std::make_shared<Ready>(std::move(ready)), always};
  if (always) always_.push_back(fd);
  return {};
}

void EventLoop::change(int fd, std::uint32_t events) {
  Watched* watched = find(fd);
  if (watched == nullptr || watched->events == events) return;
  watched->events = events;
  if (watched->always) return;
  epoll_event event{.events = events, .data = {.u64 = key_of(fd, watched->generation)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::forget(int fd) {
  Watched* watched = find(fd);
  if (watched == nullptr) return;
  if (watched->always) std::erase(always_, fd);
  *watched = {};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::rest(int fd, std::chrono::milliseconds time) {
  const Watched* watched = find(fd);
  if (watched == nullptr || watched->events == 0) return;
  after(time, [this, fd, events = watched->events, generation = watched->generation] {
    const Watched* same = find(fd);
    if (same != nullptr && same->generation == generation) change(fd, events);
  });
  change(fd, 0);
}

EventLoop::Timer EventLoop::at(Clock::time_point time, Task task) {
  const Timer timer{time, ++timer_count_};
  timers_.emplace(timer, std::move(task));
  return timer;
}

EventLoop::Timer EventLoop::after(std::chrono::milliseconds time, Task task) {
  return at(Clock::now() + time, std::move(task));
}

void EventLoop::cancel(const Timer& timer) { timers_.erase(timer); }

int EventLoop::run_timers() {
  while (!timers_.empty()) {
    const auto first = timers_.begin();
    const auto left = first->first.first - Clock::now();
    if (left > Clock::duration::zero()) {
      const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      return static_cast<int>(std::min<std::int64_t>(rounded, 60000));
    }
    const Task task = std::move(first->second);
    timers_.erase(first);
    task();
  }
  return -1;
}

void EventLoop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const Task& task : tasks) task();
}

void EventLoop::post(Task task) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(task));
  ::eventfd_write(wake_.get(), 1);
}

void EventLoop::stop() {
  post([this] { stopped_ = true; });
}

bool EventLoop::serve_always() {
  bool served = false;
  for (const int fd : std::vector<int>(always_)) {
    const Watched* watched = find(fd);
    if (watched == nullptr || watched->events == 0) continue;
    const std::shared_ptr<Ready> ready = watched->ready;
    (*ready)(watched->events);
    served = true;
  }
  return served;
}

void EventLoop::run() {
  run_until([] { return false; });
}

bool EventLoop::run_until(const std::function<bool()>& done) {
  std::array<epoll_event, 256> events;
  while (!stopped_) {
    if (done()) return true;
    const int timeout = run_timers();
    if (done()) return true;
    const bool busy = !always_.empty() && serve_always();
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   busy ? 0 : timeout);
    for (int index = 0; index < count; ++index) {
      const epoll_event& event = events[static_cast<std::size_t>(index)];
      const int fd = static_cast<int>(event.data.u64 & 0xffffffffU);
      const Watched* watched = find(fd);
      if (watched == nullptr || key_of(fd, watched->generation) != event.data.u64) continue;
      const std::shared_ptr<Ready> ready = watched->ready;  // it may forget itself
      (*ready)(event.events);
    }
  }
  return false;
}

}  // namespace coop
