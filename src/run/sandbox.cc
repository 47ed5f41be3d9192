// The public interface: coop/sandbox.h.
#include "coop/sandbox.h"

#include <signal.h>

#include <cerrno>

#include "host/probe.h"
#include "run/output/capture.h"
#include "run/sandbox_state.h"
#include "sys/message.h"

namespace coop {

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::exited: return "exited";
    case Outcome::signalled: return "signalled";
    case Outcome::timed_out: return "timed_out";
    case Outcome::out_of_memory: return "out_of_memory";
    case Outcome::violation: return "violation";
    case Outcome::not_found: return "not_found";
    case Outcome::not_executable: return "not_executable";
    case Outcome::guards_incomplete: return "guards_incomplete";
    case Outcome::network_incomplete: return "network_incomplete";
  }
  return "?";
}

std::string_view to_text(NetworkEvent::Kind kind) {
  switch (kind) {
    case NetworkEvent::Kind::lookup: return "lookup";
    case NetworkEvent::Kind::connection: return "connection";
    case NetworkEvent::Kind::published: return "published";
    case NetworkEvent::Kind::host_port: return "host_port";
    case NetworkEvent::Kind::datagrams: return "datagrams";
    case NetworkEvent::Kind::neighbour: return "neighbour";
  }
  return "?";
}

Sandbox::Sandbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sandbox::Sandbox(Sandbox&&) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Sandbox::~Sandbox() {
  if (!state_) return;
  // In a forked child the group, the janitor's charge and the process belong to the parent.
  if (state_->owner != ::getpid()) static_cast<void>(state_.release());
  else run::destroy(*state_);
}

const std::string& Sandbox::id() const { return state_->prepared.plan.id; }
int Sandbox::pidfd() const { return state_->launched.pidfd.get(); }

Result<void> Sandbox::signal(int number) {
  TRY(run::check_owner(*state_));
  constexpr int kHighest = 64;
  if (number < 1 || number > kHighest)
    return invalid("signal", std::to_string(number) + " is no signal", "signals are 1 to 64");
  const child::SignalRequest request{.number = number};
  return send_message(state_->launched.control.get(), &request, sizeof request);
}

Result<void> Sandbox::kill() {
  TRY(run::check_owner(*state_));
  run::kill_all(*state_);
  return {};
}

Result<ExecOutput> Sandbox::wait(std::optional<std::chrono::milliseconds> timeout) {
  TRY(run::check_owner(*state_));
  if (state_->concluded) return invalid("wait", "this sandbox has been waited for already");
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  const run::Ending ending =
      TRY(run::supervise(*loop, *state_, {.deadline = run::deadline_of(*state_, timeout)}));
  return run::finish(*state_, ending);
}

Result<HostFacts> probe() { return host::probe(host::Depth::full); }

Result<Sandbox> spawn(const Policy& policy, const Command& command, const Stdio& stdio) {
  auto state = TRY(run::start(policy, &command, {.stdio = stdio}));
  Sandbox::State& running = *state;
  Sandbox sandbox(std::move(state));  // kills it if this fails
  TRY(run::serve_calls(running));
  return sandbox;
}

Result<ExecOutput> exec(const Policy& policy, const Command& command,
                        std::optional<std::chrono::milliseconds> timeout, const ExecHooks& hooks) {
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  auto state = TRY(run::start(policy, &command,
                              {.stdio = pipes.stdio(),
                               .defer_janitor = true,
                               .timeout = timeout ? timeout : policy.limits.timeout}));
  Sandbox::State& running = *state;
  const Sandbox sandbox(std::move(state));  // kills it on every return
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  return run::capture(*loop, running, std::move(pipes), timeout, hooks);
}

Result<ExecOutput> exec(const Policy& policy, std::string_view shell_command,
                        std::optional<std::chrono::milliseconds> timeout, const ExecHooks& hooks) {
  return exec(policy, Command{.arguments = {"/bin/sh", "-c", "--", std::string(shell_command)}},
              timeout, hooks);
}

}  // namespace coop
