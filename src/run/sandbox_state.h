// A started sandbox from the supervisor's side.
#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "coop/sandbox.h"
#include "guards/records/run_record.h"
#include "guards/versions.h"
#include "run/calls/dispatcher.h"
#include "run/calls/service.h"
#include "run/cleanup/janitor.h"
#include "run/files/lock_watch.h"
#include "run/files/service.h"
#include "run/network/network.h"
#include "run/prepare.h"
#include "run/start/group.h"
#include "run/start/launch.h"
#include "run/supervise.h"

namespace coop::run {

// Work that is deferred until a command has run this long: most exit earlier, and such work would
// compete with them.
inline constexpr std::chrono::milliseconds kGrace{10};

// The last key that the caller's terminal, or the sandbox's own, made a signal of: Ctrl-C or Ctrl-\.
struct Key {
  int signal = 0;
  bool relayed =
      false;  // it was typed into the sandbox's terminal: no process of the caller has got the signal
};

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
  std::unique_ptr<run::Network> network{};           // null if the network needs no service
  std::unique_ptr<run::FileService> files{};         // null if no git directory is served
  run::Dispatcher calls{};                           // answered while the caller waits for the end,
  std::unique_ptr<run::CallService> calls_thread{};  // or by this thread
  std::unique_ptr<run::LockWatch> locks{};           // null as long as none are watched
  guards::Versions versions{};                       // of guarded files
  guards::RunRecord record{};                        // for other runs, once a command may run
  std::vector<Path> doubtful{};    // guarded paths that another run may have written
  std::vector<Path> gaps{};        // guarded paths whose mounts were lost for a while
  std::vector<UniqueFd> trees{};   // the writable trees, wherever they are moved
  TreeWatch* watch = nullptr;      // of the pool that it belongs to
  UniqueFd root{};                 // of the view, where it was asked for
  UniqueFd home{};                 // the lock of a kept home: it is not removed while it is used
  UniqueFd mounts{};               // the mount namespace: it keeps what is below the root
  std::vector<UniqueFd> inside{};  // the directories of trees_below_homes(), as they were at first
  std::chrono::steady_clock::time_point started{};
  std::optional<child::Report> ended{};   // exited or exec_failed
  std::optional<child::Report> failed{};  // a setup step
  bool over_memory = false;               // killed by the supervisor, which adds it up
  bool timed_out = false;                 // init ended the run, possibly while we were stopped
  std::string program{};                  // the command, as it was named
  Path directory{};                       // and its working directory
  UniqueFd terminal{};
  std::function<void(int)> on_stop{};  // job control: the command was stopped
  run::Key key{};
  run::Later later{};
  pid_t owner = ::getpid();  // a forked child of the program has a copy of all this
  bool has_command = false;  // else it waits for one, and nothing has run inside
  bool concluded = false;    // the outcome is known
  bool reaped = false;       // init is dead and reaped
  bool released = false;     // everything is removed
};

}  // namespace coop

namespace coop::run {

// The directories of trees_below_homes(), as the sandbox has them.
std::vector<guards::InsideTree> inside_trees(const Sandbox::State& state);

// Refuses a command that could not be executed as given, or that the completed policy does not allow.
Result<void> check_command(const Command& command, const Policy& policy);

// An error in a child that the program forked: sandboxes are not inherited.
Result<void> check_owner(const Sandbox::State& state);

// From now on a change of git's settings that git gives up is seen.
void watch_locks(Sandbox::State& state);

// Prepares and launches. With `command` null the sandbox waits for one (pool).
Result<std::unique_ptr<Sandbox::State>> start(const Policy& policy, const Command* command,
                                              const LaunchOptions& options);

// Before the look at the writable trees that a command's run is judged by.
Result<void> enter_record(Sandbox::State& state, const Path& state_directory,
                          const std::string& id);
// After it: keeps what guarded files contain, and finds out what other runs may have written. Of git directories that
// sandboxes made, keeps the settings: these are judged at the end, and put back if they must not stay.
Result<void> keep_versions(Sandbox::State& state);

// Before a command runs: from then on the janitor takes away what is new.
Result<void> begin_charge(const Sandbox::State& state);
// What the janitor would have to do has changed.
Result<void> renew_charge(const Sandbox::State& state);

// For a caller that does not wait at once: calls that need an answer must not block the command until it does.
Result<void> serve_calls(Sandbox::State& state);

// True once the command has exited and was the last process inside.
bool is_alone(const Sandbox::State& state);

// Reads one report. False at EOF.
bool read_report(Sandbox::State& state);
// Those that are there already, of a sandbox that has ended.
void read_last_reports(Sandbox::State& state);

// Kills init, and with it everything inside.
void kill_all(Sandbox::State& state);

// Once no process inside can run: quarantines, and returns the outcome. init may still be exiting.
Result<ExecOutput> collect_result(Sandbox::State& state, Ending ending);

// Waits for init to exit, removes the group and cancels the janitor's charge.
void release(Sandbox::State& state);

// Releases a sandbox whose result was collected, and kills any other.
void destroy(Sandbox::State& state);

// Concludes and releases.
Result<ExecOutput> finish(Sandbox::State& state, Ending ending);

}  // namespace coop::run
