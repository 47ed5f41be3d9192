// Prepared sandboxes: every step but exec is done, the workload waits on a socket.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "coop/sandbox.h"
#include "run/capture.h"
#include "run/sandbox_state.h"
#include "sys/message.h"

namespace coop {

namespace run {

namespace {

// The invocation as one block of memory: words (offsets into the block, 0 ends a list), then the
// strings they point to. The workload maps it and turns the offsets into pointers.
struct Block {
  child::ExecRequest request{};
  std::string bytes{};
};

Block block_for(const Invocation& invocation) {
  Block block;
  const std::size_t words = invocation.candidates.size() + invocation.arguments.size() +
                            invocation.environment.size() + 3 + 1;
  std::vector<std::uint64_t> offsets;
  std::string texts;
  const auto add = [&](const std::string& text) {
    offsets.push_back(words * sizeof(std::uint64_t) + texts.size());
    texts += text + '\0';
  };
  const auto add_list = [&](const std::vector<std::string>& list) {
    const auto at = static_cast<std::uint32_t>(offsets.size());
    for (const std::string& text : list) add(text);
    offsets.push_back(0);
    return at;
  };
  add_list(invocation.candidates);
  block.request.arguments_at = add_list(invocation.arguments);
  block.request.environment_at = add_list(invocation.environment);
  block.request.directory_at = static_cast<std::uint32_t>(offsets.size());
  add(invocation.directory);
  block.bytes.assign(reinterpret_cast<const char*>(offsets.data()),
                     offsets.size() * sizeof(std::uint64_t));
  block.bytes += texts;
  block.request.words = static_cast<std::uint32_t>(words);
  block.request.size = block.bytes.size();
  return block;
}

Result<void> hand_over(Sandbox::State& state, const Command& command, const Stdio& stdio) {
  const Block block = block_for(invocation_for(state.prepared.plan, command));
  UniqueFd memory(::memfd_create("coop-exec", MFD_CLOEXEC));
  if (!memory.valid()) return system_error("memfd_create");
  TRY(write_all(memory.get(), block.bytes, "the command"));
  UniqueFd null;
  if (stdio.input < 0 || stdio.output < 0 || stdio.error < 0)
    null = TRY(open_file("/dev/null", O_RDWR));
  const auto or_null = [&](int fd) { return fd < 0 ? null.get() : fd; };
  const int descriptors[4] = {memory.get(), or_null(stdio.input), or_null(stdio.output),
                              or_null(stdio.error)};
  state.started = std::chrono::steady_clock::now();
  TRY(send_message(state.launched.request.get(), &block.request, sizeof block.request,
                   descriptors));
  return watch_over(state);  // while the command starts
}

}  // namespace

}  // namespace run

struct Pool::State {
  Policy policy{};
  std::size_t size = 0;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<std::unique_ptr<Sandbox::State>> ready{};
  std::vector<Sandbox> retired{};  // done; what is left of them is collected in the background
  std::optional<Error> broken{};   // the last refill failed so
  std::atomic<bool> stopping = false;
  std::thread refiller{};

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (refiller.joinable()) refiller.join();
    for (auto& state : ready) Sandbox discarded(std::move(state));
  }

  // Prepared anew each time: what the last command changed in the workspace (a new repository, a
  // new hook) must be guarded for the next one.
  Result<std::unique_ptr<Sandbox::State>> make() const {
    return run::start(policy, nullptr, {.prepared = true});
  }

  void refill() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      changed.wait(lock, [&] { return stopping || ready.size() < size || !retired.empty(); });
      if (stopping) return;
      std::vector<Sandbox> done = std::exchange(retired, {});
      const bool wanted = ready.size() < size;
      lock.unlock();
      done.clear();
      if (!wanted) {
        lock.lock();
        continue;
      }
      auto made = make();
      lock.lock();
      if (made) {
        broken.reset();
        ready.push_back(std::move(*made));
      } else {
        broken = std::move(made).error();
        changed.notify_all();
        changed.wait_for(lock, std::chrono::milliseconds(200), [&] { return stopping.load(); });
      }
      changed.notify_all();
    }
  }

  void retire(Sandbox sandbox) {
    {
      const std::lock_guard lock(mutex);
      retired.push_back(std::move(sandbox));
    }
    changed.notify_all();
  }

  Result<std::unique_ptr<Sandbox::State>> take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ready.empty() || broken; });
    if (ready.empty()) return std::unexpected(*broken);
    auto state = std::move(ready.front());
    ready.pop_front();
    lock.unlock();
    changed.notify_all();
    return state;
  }
};

Pool::Pool(std::unique_ptr<State> state) : state_(std::move(state)) {}
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;
Pool::~Pool() = default;

Result<Pool> Pool::create(const Policy& policy, std::size_t size) {
  if (size == 0) return invalid("pool", "a pool of no sandboxes serves nothing");
  auto state = std::make_unique<State>();
  state->policy = policy;
  state->size = size;
  // The first is made here, so that a policy that cannot work is refused at once.
  auto first = TRY(state->make());
  state->ready.push_back(std::move(first));
  state->refiller = std::thread([raw = state.get()] { raw->refill(); });
  return Pool(std::move(state));
}

Result<Sandbox> Pool::spawn(const Command& command, const Stdio& stdio) {
  if (command.arguments.empty()) return invalid("spawn", "there is no command to run");
  auto state = TRY(state_->take());
  Sandbox sandbox(std::move(state));
  TRY(run::hand_over(*sandbox.state_, command, stdio));
  return sandbox;
}

Result<ExecOutput> Pool::exec(const Command& command,
                              std::optional<std::chrono::milliseconds> timeout) {
  if (command.arguments.empty()) return invalid("exec", "there is no command to run");
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  auto state = TRY(state_->take());
  Sandbox sandbox(std::move(state));  // kills it, whichever way we leave
  TRY(run::hand_over(*sandbox.state_, command, pipes.stdio()));
  Result<ExecOutput> output = run::capture(*sandbox.state_, std::move(pipes), timeout);
  state_->retire(std::move(sandbox));
  return output;
}

std::size_t Pool::ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ready.size();
}

}  // namespace coop
