#include "run/sandbox_state.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "run/quarantine.h"
#include "sys/message.h"

namespace coop::run {

namespace {

using std::chrono::microseconds;

void wait_for_end(int pidfd) {
  siginfo_t information{};
  while (::waitid(static_cast<idtype_t>(3 /* P_PIDFD */), static_cast<id_t>(pidfd), &information,
                  WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
}

// What a janitor does in our place.
std::function<void()> cleanup_for(const Prepared& prepared) {
  return [plan = prepared.plan.guards, before = prepared.before, directory = prepared.quarantine,
          groups = group_directories(prepared.plan.group)] {
    // The group first: it can be removed only once everything in it is dead.
    remove_group_directories(groups);
    if (!plan.roots.empty()) quarantine(plan, before, directory);
  };
}

void set_signal(ExecOutput& output, int signal) {
  output.outcome = signal == SIGSYS ? Outcome::violation : Outcome::signalled;
  output.signal = signal;
  output.exit_code = 128 + signal;
  if (signal == SIGSYS)
    output.denials.push_back(Denial{"a system call of a foreign architecture or calling convention",
                                    "seccomp: i386 and x32 system calls are killed",
                                    "use a native program; there is no grant for this"});
}

void set_outcome(ExecOutput& output, const Sandbox::State& state, Ending ending) {
  if (ending == Ending::timed_out) {
    output.outcome = Outcome::timed_out;
    output.exit_code = 124;
  } else if (state.ended && state.ended->event == child::Event::exec_failed) {
    const int error = state.ended->error;
    const bool missing = error == ENOENT || error == ENOTDIR;
    output.outcome = missing ? Outcome::not_found : Outcome::not_executable;
    output.exit_code = missing ? 127 : 126;
    output.notes.push_back("the command could not be run: " + errno_text(error));
  } else if (state.ended && WIFEXITED(state.ended->status)) {
    output.exit_code = WEXITSTATUS(state.ended->status);
  } else if (state.ended) {
    set_signal(output, WTERMSIG(state.ended->status));
  } else {
    set_signal(output, SIGKILL);  // init itself was killed, from outside
  }
  if (state.group.out_of_memory_kills() > 0 && ending == Ending::by_itself &&
      output.exit_code != 0) {
    output.outcome = Outcome::out_of_memory;
    output.denials.push_back(
        Denial{"memory beyond the limit", "--memory", "--memory with a larger size"});
  }
}

void set_usage(ExecOutput& output, const Sandbox::State& state) {
  output.usage.wall =
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - state.started);
  if (!state.ended) return;
  output.usage.user_cpu = microseconds(state.ended->user_microseconds);
  output.usage.system_cpu = microseconds(state.ended->system_microseconds);
  output.usage.peak_memory = state.group.peak_memory().value_or(
      static_cast<std::uint64_t>(state.ended->peak_kilobytes) * 1024);
}

void take_away(ExecOutput& output, const Sandbox::State& state) {
  const GuardPlan& guards = state.prepared.plan.guards;
  if (guards.roots.empty()) return;
  QuarantineReport report = quarantine(guards, state.prepared.before, state.prepared.quarantine);
  for (const Quarantined& moved : report.moved) {
    const std::string name = moved.rule.starts_with("guard ") ? moved.rule.substr(6) : moved.rule;
    output.denials.push_back(
        Denial{"creating " + moved.path, moved.rule, "--allow-guarded " + name});
  }
  output.quarantined = std::move(report.moved);
  for (std::string& note : report.notes) output.notes.push_back(std::move(note));
}

}  // namespace

Deadline deadline_after(std::optional<std::chrono::milliseconds> timeout) {
  if (!timeout) return std::nullopt;
  return std::chrono::steady_clock::now() + *timeout;
}

int remaining(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return left.count() <= 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left.count(), 1 << 30));
}

Result<std::unique_ptr<Sandbox::State>> start(Prepared prepared, const Command* command,
                                              const LaunchOptions& options) {
  auto state = std::make_unique<Sandbox::State>();
  state->prepared = std::move(prepared);
  const Plan& plan = state->prepared.plan;
  const bool has_group = !plan.group.limits.empty();
  const bool needs_janitor = has_group || !plan.guards.roots.empty();
  state->started = std::chrono::steady_clock::now();
  // With a group the janitor comes first: there must be no moment in which a group exists and
  // nobody would remove it. Otherwise it is forked while the child sets itself up.
  if (has_group) {
    state->janitor = TRY(Janitor::start(cleanup_for(state->prepared)));
    state->group = TRY(with_context("making the control group", Group::make(plan.group)));
  }
  state->launched = TRY(launch(plan, command, options, state->group));
  if (needs_janitor && !has_group) {
    Result<Janitor> janitor =
        Janitor::start(cleanup_for(state->prepared), state->launched.pidfd.get());
    if (!janitor) {
      kill_all(*state);
      wait_for_end(state->launched.pidfd.get());
      return std::unexpected(std::move(janitor).error());
    }
    state->janitor = std::move(*janitor);
  }
  if (has_group) state->janitor.watch(state->launched.pidfd.get());
  return state;
}

bool read_report(Sandbox::State& state) {
  child::Report report;
  Received received = receive_message(state.launched.control.get(), &report, sizeof report);
  if (received.size < 0 && errno == EINTR) return true;
  if (received.size != sizeof report) return false;
  switch (report.event) {
    case child::Event::failed: state.failed = report; break;
    case child::Event::terminal: state.terminal = std::move(received.descriptor); break;
    case child::Event::ready: break;
    case child::Event::stopped:
      if (state.on_stop) state.on_stop(report.status);
      break;
    case child::Event::exited:
      if (!state.ended) state.ended = report;
      break;
    case child::Event::exec_failed: state.ended = report; break;
  }
  return true;
}

void kill_all(Sandbox::State& state) {
  ::syscall(SYS_pidfd_send_signal, state.launched.pidfd.get(), SIGKILL, nullptr, 0);
}

Result<ExecOutput> finish(Sandbox::State& state, Ending ending) {
  wait_for_end(state.launched.pidfd.get());
  // What init said last may still be unread.
  for (pollfd watched{state.launched.control.get(), POLLIN, 0};
       ::poll(&watched, 1, 0) > 0 && read_report(state);) {
  }
  state.finished = true;
  if (state.failed) {
    state.janitor.dismiss();
    return std::unexpected(setup_error(state.prepared.plan, *state.failed));
  }
  ExecOutput output;
  output.notes = state.prepared.plan.notes;
  set_outcome(output, state, ending);
  set_usage(output, state);
  take_away(output, state);
  state.group.remove();
  state.janitor.dismiss();
  return output;
}

}  // namespace coop::run
