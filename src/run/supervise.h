// Waits for the end of a run: the only loop, used by exec, wait, pools, terminals and commands on
// the host. Output, terminal and signals watch their descriptors in the same EventLoop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "coop/sandbox.h"
#include "sys/event_loop.h"

namespace coop::run {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

Deadline deadline_after(
    std::optional<std::chrono::milliseconds> timeout,
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now());

// When a run must have ended: after the timeout that a call gives or else that of the policy, and within the
// organisation's in any case.
Deadline deadline_of(const Sandbox::State& state, std::optional<std::chrono::milliseconds> timeout);

enum class Ending { by_itself, timed_out };

struct Supervision {
  Deadline deadline{};  // everything is killed then
  int cancel_fd = -1;   // or once this is readable
  // Called before each wait: whether the run is over although its process still exists.
  std::function<bool()> over{};
  std::function<void()> before_wait{};
};

// Until the process of `pidfd` has ended. `kill` is called at the deadline and when the run is cancelled.
Result<Ending> supervise(EventLoop& loop, int pidfd, const std::function<void()>& kill,
                         const Supervision& supervision);

// The same for a sandbox. Reads its reports, passes on network events, and runs deferred work once
// the command has run long enough.
Result<Ending> supervise(EventLoop& loop, Sandbox::State& state, const Supervision& supervision);

}  // namespace coop::run
