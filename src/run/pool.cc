// Prepared sandboxes: every step except exec is done, the workload waits on a socket.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "coop/sandbox.h"
#include "run/look_again.h"
#include "run/output/capture.h"
#include "run/sandbox_state.h"
#include "sys/message.h"

namespace coop {

namespace run {

namespace {

Result<void> hand_over(Sandbox::State& state, const Command& command, const Stdio& stdio) {
  TRY(check_command(command, state.prepared.policy));
  TRY(check_stdio(stdio));
  Region& region = state.launched.region;
  auto* workload = static_cast<child::Workload*>(region.allocate(sizeof(child::Workload)));
  if (workload == nullptr) return system_error_of(E2BIG, "freeze", "the command");
  *workload = TRY(freeze_workload(state.prepared.plan, command, {}, region));
  UniqueFd null;
  if (stdio.input < 0 || stdio.output < 0 || stdio.error < 0)
    null = TRY(open_file("/dev/null", O_RDWR));
  const auto or_null = [&](int fd) { return fd < 0 ? null.get() : fd; };
  const int descriptors[3] = {or_null(stdio.input), or_null(stdio.output), or_null(stdio.error)};
  const child::ExecRequest request{workload};
  state.program = command.arguments.front();
  state.directory = directory_of(state.prepared.plan, command);
  state.started = std::chrono::steady_clock::now();
  state.has_command = true;
  TRY(begin_charge(state));
  // Released in the background, where closing it delays nothing.
  watch_locks(state);
  return send_message(state.launched.request.get(), &request, sizeof request, descriptors);
}

}  // namespace

}  // namespace run

struct Pool::State {
  std::shared_ptr<run::Janitor> janitor{};  // shared by consecutive sandboxes
  std::unique_ptr<TreeWatch> watch{};       // null: directories are compared one by one
  Policy policy{};
  std::size_t size = 0;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<std::unique_ptr<Sandbox::State>> ready{};
  std::chrono::steady_clock::time_point refill_at{};  // not earlier, unless none is left
  std::vector<Sandbox> retired{};                     // finished; released in the background
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> discarded = 0;
  std::thread refiller{};
  pid_t owner = ::getpid();

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (refiller.joinable()) refiller.join();
    for (auto& state : ready) Sandbox unused(std::move(state));
  }

  Result<void> check_owner() const {
    if (owner == ::getpid()) return {};
    return invalid("pool", "it belongs to the process that this one was forked from",
                   "make a pool of your own after fork()");
  }

  Result<std::unique_ptr<Sandbox::State>> make() const {
    return run::start(policy, nullptr, {.prepared = true, .pass_root = true, .watch = watch.get()});
  }
  Result<std::unique_ptr<Sandbox::State>> make_ahead() const {
    return run::start(policy, nullptr,
                      {.prepared = true, .idle = true, .pass_root = true, .watch = watch.get()});
  }

  void refill() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      const bool full = ready.size() >= size;
      if (retired.empty() && full) {
        changed.wait(lock);
        continue;
      }
      if (retired.empty() && !ready.empty() && std::chrono::steady_clock::now() < refill_at) {
        changed.wait_until(lock, refill_at);
        continue;
      }
      std::vector<Sandbox> done = std::exchange(retired, {});
      lock.unlock();
      done.clear();
      if (full) {
        lock.lock();
        continue;
      }
      auto made = make_ahead();
      lock.lock();
      if (made) {
        ready.push_back(std::move(*made));
        continue;
      }
      // A caller that needs one meanwhile makes it itself, and gets the error.
      changed.wait_for(lock, std::chrono::milliseconds(200), [&] { return stopping.load(); });
    }
  }

  void retire(Sandbox sandbox) {
    const std::lock_guard lock(mutex);
    retired.push_back(std::move(sandbox));
  }

  void call_for_more(std::chrono::steady_clock::time_point when) {
    {
      const std::lock_guard lock(mutex);
      refill_at = when;
    }
    changed.notify_one();
  }

  // Does not trigger a refill: that would compete with the command. The caller does so when the
  // command has ended or has run for a while.
  Result<std::unique_ptr<Sandbox::State>> take() {
    std::unique_ptr<Sandbox::State> state;
    {
      const std::lock_guard lock(mutex);
      if (!ready.empty()) {
        state = std::move(ready.front());
        ready.pop_front();
      }
    }
    // It may have waited for hours, or was prepared while another command changed the workspace.
    if (state && run::look_again(*state, policy)) return state;
    if (state) ++discarded;
    if (state) retire(Sandbox(std::move(state)));
    return make();
  }
};

Pool::Pool(std::unique_ptr<State> state) : state_(std::move(state)) {}
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;
Pool::~Pool() {
  // In a forked child the thread does not exist, a lock may be held for ever, and the sandboxes
  // belong to the parent: leave everything as it is.
  if (state_ && state_->owner != ::getpid()) static_cast<void>(state_.release());
}

Result<Pool> Pool::create(const Policy& policy, std::size_t size) {
  if (size == 0) return invalid("pool", "a pool of no sandboxes serves nothing");
  if (!policy.publish.empty())
    return invalid(policy.publish.front().origin,
                   "a published port belongs to one sandbox, and a pool has many",
                   "use exec() or spawn()");
  auto state = std::make_unique<State>();
  state->janitor = TRY(run::Janitor::of_this_process());
  if (Result<std::unique_ptr<TreeWatch>> watch = TreeWatch::make())
    state->watch = std::move(*watch);
  state->policy = policy;
  state->size = size;
  // The first is made here, so that an impossible policy is refused at once.
  auto first = TRY(state->make_ahead());
  state->ready.push_back(std::move(first));
  state->refiller = std::thread([raw = state.get()] { raw->refill(); });
  return Pool(std::move(state));
}

Result<Sandbox> Pool::spawn(const Command& command, const Stdio& stdio) {
  TRY(state_->check_owner());
  auto state = TRY(state_->take());
  Sandbox sandbox(std::move(state));
  const Result<void> handed = run::hand_over(*sandbox.state_, command, stdio);
  state_->call_for_more(std::chrono::steady_clock::now() + run::kGrace);
  if (!handed) return std::unexpected(handed.error());
  TRY(run::serve_calls(*sandbox.state_));
  return sandbox;
}

Result<ExecOutput> Pool::exec(const Command& command,
                              std::optional<std::chrono::milliseconds> timeout,
                              const ExecHooks& hooks) {
  TRY(state_->check_owner());
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  auto state = TRY(state_->take());
  Sandbox sandbox(std::move(state));  // kills it on every return
  sandbox.state_->later = {std::chrono::steady_clock::now() + run::kGrace, [this] {
                             state_->call_for_more({});
                             return Result<void>{};
                           }};
  const Result<void> handed = run::hand_over(*sandbox.state_, command, pipes.stdio());
  Result<ExecOutput> output =
      handed ? run::capture(*loop, *sandbox.state_, std::move(pipes), timeout, hooks)
             : Result<ExecOutput>(std::unexpected(handed.error()));
  state_->retire(std::move(sandbox));
  state_->call_for_more({});
  return output;
}

std::size_t Pool::discarded() const { return state_->discarded; }

std::size_t Pool::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ready.size();
}

}  // namespace coop
