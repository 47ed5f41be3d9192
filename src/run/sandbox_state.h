// A started sandbox from the supervisor's side.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "coop/sandbox.h"
#include "run/group.h"
#include "run/janitor.h"
#include "run/launch.h"
#include "run/network.h"
#include "run/prepare.h"

namespace coop::run {

// What can wait until a command has shown that it lasts: most are over before, and what starts
// beside them takes their time.
inline constexpr std::chrono::milliseconds kGrace{10};

struct Later {
  std::optional<std::chrono::steady_clock::time_point> due{};
  std::function<Result<void>()> act{};
};

}  // namespace coop::run

namespace coop {

struct Sandbox::State {
  run::Prepared prepared{};
  run::Group group{};
  run::Charge charge{};
  run::Launched launched{};
  std::unique_ptr<run::Network> network{};  // null where there is nothing to do for it
  std::chrono::steady_clock::time_point started{};
  std::optional<child::Report> ended{};   // exited or exec_failed
  std::optional<child::Report> failed{};  // a setup step
  bool timed_out = false;                 // init ended the run, while we were stopped perhaps
  Path directory{};                       // where the command was to start
  UniqueFd terminal{};
  std::function<void(int)> on_stop{};  // job control: the command was stopped
  run::Later later{};
  pid_t owner = ::getpid();  // a child that the program forks has a copy of all this
  bool concluded = false;    // the outcome is known
  bool reaped = false;       // init is dead and collected
  bool released = false;     // nothing of it is left
};

}  // namespace coop

namespace coop::run {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

Deadline deadline_after(std::optional<std::chrono::milliseconds> timeout);
// Milliseconds for poll: -1 without a deadline.
int remaining(const Deadline& deadline);

// Refuses a command that could not be run as it was meant.
Result<void> check_command(const Command& command, const Policy& policy);

// An error in a child that the program forked: sandboxes are not inherited.
Result<void> check_owner(const Sandbox::State& state);

// Prepares and launches. With `command` null the sandbox waits for one (pool).
Result<std::unique_ptr<Sandbox::State>> start(const Policy& policy, const Command* command,
                                              const LaunchOptions& options);

// poll() while the sandbox runs: how many are ready, 0 when the time is up. Does what could wait, once
// that is due. A signal interrupts it as it does poll().
Result<int> await(Sandbox::State& state, std::span<pollfd> watched, const Deadline& deadline);

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

// Waits for the very end of init, removes the group and relieves the janitor.
void release(Sandbox::State& state);

// Releases a concluded sandbox and kills any other: nothing of it is left.
void part_with(Sandbox::State& state);

// Concludes and releases.
Result<ExecOutput> finish(Sandbox::State& state, Ending ending);

}  // namespace coop::run
