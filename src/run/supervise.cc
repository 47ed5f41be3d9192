#include "run/supervise.h"

#include <sys/epoll.h>

#include <algorithm>

#include "run/memory.h"
#include "run/mount_watch.h"
#include "run/sandbox_state.h"

namespace coop::run {

namespace {

// The sooner of both; unset means never.
Deadline sooner(Deadline one, Deadline other) {
  return one && other ? std::min(one, other) : one ? one : other;
}

}  // namespace

Deadline deadline_after(std::optional<std::chrono::milliseconds> timeout,
                        std::chrono::steady_clock::time_point start) {
  if (!timeout) return std::nullopt;
  return start + *timeout;
}

// The organisation's timeout counts from the start: a program cannot prolong a run by waiting late.
Deadline deadline_of(const Sandbox::State& state,
                     std::optional<std::chrono::milliseconds> timeout) {
  const Policy& policy = state.prepared.policy;
  return sooner(deadline_after(timeout ? timeout : policy.limits.timeout),
                deadline_after(policy.bounds.timeout, state.started));
}

Result<Ending> supervise(EventLoop& loop, int pidfd, const std::function<void()>& kill,
                         const Supervision& supervision) {
  Ending ending = Ending::by_itself;
  bool ended = false;
  TRY(loop.watch(pidfd, EPOLLIN, [&](std::uint32_t) {
    ended = true;
    loop.forget(pidfd);
  }));
  if (supervision.cancel_fd >= 0)
    TRY(loop.watch(supervision.cancel_fd, EPOLLIN, [&](std::uint32_t) {
      loop.forget(supervision.cancel_fd);
      kill();
    }));
  if (supervision.deadline)
    loop.at(*supervision.deadline, [&] {
      ending = Ending::timed_out;
      kill();
    });
  loop.run_until([&] {
    if (ended) return true;
    if (supervision.before_wait) supervision.before_wait();
    // After a kill the run is over only when no process of it can run any more.
    return ending == Ending::by_itself && supervision.over && supervision.over();
  });
  return ending;
}

namespace {

// Ten times a second, and never for more than a tenth of our time: a sandbox may have thousands of processes.
void sample_memory(EventLoop& loop, Sandbox::State& state, std::uint64_t limit) {
  constexpr std::chrono::milliseconds kInterval{100};
  const auto start = std::chrono::steady_clock::now();
  // Twice: while processes exit, what they shared is counted for some before and for others after.
  const auto is_over = [&] { return memory_of_sandbox(state.launched.pid, limit) > limit; };
  bool over = is_over();
  if (over) over = is_over();
  if (over) {
    state.over_memory = true;
    return kill_all(state);
  }
  const auto end = std::chrono::steady_clock::now();
  loop.at(std::max(start + kInterval, end + 9 * (end - start)),
          [&loop, &state, limit] { sample_memory(loop, state, limit); });
}

// The kernel keeps only so many events.
void read_locks(EventLoop& loop, Sandbox::State& state) {
  constexpr std::chrono::milliseconds kLong{200};
  const auto watch = [&loop, &state] {
    if (!state.locks) watch_locks(state);
    // Without it what the kernel keeps is read in the end.
    if (state.locks)
      (void)loop.watch(state.locks->fd(), EPOLLIN,
                       [&state](std::uint32_t) { state.locks->read_events(); });
  };
  if (state.locks) watch();
  else loop.after(kLong, watch);
}

void watch_calls(EventLoop& loop, Sandbox::State& state) {
  const int fd = state.calls.fd();
  if (fd < 0) return;
  const auto ready = [&loop, &state, fd](std::uint32_t) {
    loop.forget(fd);  // serve() may close it
    state.calls.serve();
    watch_calls(loop, state);
  };
  // A listener that is not read from would make callers wait for ever; without one their calls fail.
  if (!loop.watch(fd, EPOLLIN, ready)) state.calls = {};
}

}  // namespace

Result<Ending> supervise(EventLoop& loop, Sandbox::State& state, const Supervision& supervision) {
  const int control = state.launched.control.get();
  std::unique_ptr<MountWatch> mounts;
  const auto watch_mounts = [&] {
    if (mounts || !state.root.valid()) return;
    // Without it a mount that the host ends stays lost, and the last look judges by contents.
    Result<std::unique_ptr<MountWatch>> watch = MountWatch::start(loop, state);
    if (watch) mounts = std::move(*watch);
  };
  watch_mounts();
  watch_calls(loop, state);
  read_locks(loop, state);
  // At EOF the socket stays readable; init is about to exit.
  TRY(loop.watch(control, EPOLLIN, [&](std::uint32_t) {
    if (!read_report(state)) loop.forget(control);
    else watch_mounts();
  }));
  if (state.network)
    TRY(loop.watch(state.network->news(), EPOLLIN,
                   [&state](std::uint32_t) { state.network->tell(); }));
  Result<void> acted{};
  if (state.later.due)
    loop.at(*state.later.due, [&] {
      state.later.due.reset();
      acted = state.later.act();
    });
  if (const auto limit = state.prepared.plan.group.sampled_memory)
    loop.at(std::chrono::steady_clock::now() + kGrace,
            [&loop, &state, limit] { sample_memory(loop, state, *limit); });
  Supervision with_later = supervision;
  with_later.over = [&] { return !acted || (supervision.over && supervision.over()); };
  const Result<Ending> ending =
      supervise(loop, state.launched.pidfd.get(), [&state] { kill_all(state); }, with_later);
  TRY(acted);
  return ending;
}

}  // namespace coop::run
