// A started sandbox from the supervisor's side.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "coop/sandbox.h"
#include "run/group.h"
#include "run/janitor.h"
#include "run/launch.h"
#include "run/prepare.h"

namespace coop {

struct Sandbox::State {
  run::Prepared prepared{};
  run::Group group{};
  run::Janitor janitor{};
  run::Launched launched{};
  std::chrono::steady_clock::time_point started{};
  std::optional<child::Report> ended{};   // exited or exec_failed
  std::optional<child::Report> failed{};  // a setup step
  UniqueFd terminal{};
  std::function<void(int)> on_stop{};  // job control: the command was stopped
  bool concluded = false;              // the outcome is known
  bool reaped = false;                 // init is dead and collected
  bool released = false;               // nothing of it is left
};

}  // namespace coop

namespace coop::run {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

Deadline deadline_after(std::optional<std::chrono::milliseconds> timeout);
// Milliseconds for poll: -1 without a deadline.
int remaining(const Deadline& deadline);

// Prepares and launches. With `command` null the sandbox waits for one (pool).
Result<std::unique_ptr<Sandbox::State>> start(const Policy& policy, const Command* command,
                                              const LaunchOptions& options);

// True once the command has ended and was the last to run inside.
bool is_alone(const Sandbox::State& state);

// Reads one report. False when the socket is at its end.
bool read_report(Sandbox::State& state);

// Kills init, and with it everything inside.
void kill_all(Sandbox::State& state);

enum class Ending { by_itself, timed_out };

// Once nothing inside can run any more: quarantines, and tells the outcome. What is left of init may
// still be on its way out.
Result<ExecOutput> conclude(Sandbox::State& state, Ending ending);

// Waits for the very end of init, removes the group and dismisses the janitor.
void release(Sandbox::State& state);

// Both.
Result<ExecOutput> finish(Sandbox::State& state, Ending ending);

// Starts the janitor of a sandbox without a group, now that a command runs in it.
Result<void> watch_over(Sandbox::State& state);

}  // namespace coop::run
