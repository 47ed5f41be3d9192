// Starting a sandbox: freezes the plan and hands it to a process that child/ clones and runs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/result.h"
#include "child/program.h"
#include "coop/sandbox.h"
#include "plan/plan.h"
#include "run/start/freeze.h"
#include "run/start/group.h"
#include "run/start/region.h"
#include "sys/fd.h"

namespace coop {
class TreeWatch;
}

namespace coop::run {

enum class ParentDeath {
  noticed,   // by EOF on the control socket: enough, and safe with many threads
  signalled  // by PR_SET_PDEATHSIG too: only if the calling thread lives as long as the process
};

struct LaunchOptions {
  Stdio stdio{};
  std::optional<TerminalSize> terminal{};
  ParentDeath parent_death = ParentDeath::noticed;
  // No command yet: the workload waits for one (pool).
  bool prepared = false;
  // Nor will there be one at once: what was looked at is looked at again.
  bool idle = false;
  // The child sends a descriptor of its root (Event::root), before anything runs inside.
  bool pass_root = false;
  bool hold_trees = false;  // see FreezeOptions
  // The caller waits for the end at once. The janitor is forked only if the command keeps running.
  bool defer_janitor = false;
  // If known at the start: init ends the run shortly after it, in case the supervisor cannot.
  std::optional<std::chrono::milliseconds> timeout{};
  // Called for each decision about the network while the caller waits for the end.
  std::function<void(const NetworkEvent&)> network{};
  // The process is coop's own: raise RLIMIT_NOFILE to its hard limit, for connections.
  bool raise_descriptors = false;
  // The supervisor may have to serve git directories: see take_files().
  bool serves_files = false;
  // Of the policy; outlives the launch.
  SharedTmp* shared_tmp = nullptr;
  TreeWatch* watch = nullptr;  // of a pool, for looks at the writable trees
};

// A sandbox whose init was cloned. Closing `control` kills everything inside.
struct Launched {
  UniqueFd pidfd{};
  int pid = -1;  // of init, as we see it
  UniqueFd control{};
  UniqueFd request{};  // prepared: where the command is sent
  Region region{};     // read by the child, possibly still in use
};

// A start in two parts. The first clones the child, which makes its namespaces while the supervisor
// plans; the second passes it the rest of the plan. A launch that is not completed kills it.
class Launch {
 public:
  Launch(Launch&&) noexcept = default;
  Launch& operator=(Launch&&) = delete;
  ~Launch();

  // `early` is the result of plan::begin().
  static Result<Launch> begin(const Plan& early, const LaunchOptions& options, Group& group);
  // Receives the listeners from the child; invalid when there are none.
  UniqueFd take_network() { return std::move(network_); }
  // Receives descriptors of /dev/fuse from the child; invalid unless LaunchOptions::serves_files.
  UniqueFd take_files() { return std::move(files_); }
  int pid() const { return pid_; }
  // Receives the listener of the filter from the child.
  UniqueFd take_calls() { return std::move(calls_); }
  int pidfd() const { return launched_.pidfd.get(); }
  // v1: the child joins these groups before any other step of the rest.
  void join(const Group& group) { groups_ = group.to_join(); }
  // `plan` begins with the steps of `early`.
  Result<Launched> complete(const Plan& plan, const Command* command) &&;

 private:
  Launch() = default;

  LaunchOptions options_{};
  Region region_{};
  std::size_t early_steps_ = 0;
  child::Program program_{};  // the descriptors, as numbered in the child's table
  int pid_ = -1;
  UniqueFd network_{};
  UniqueFd files_{};
  UniqueFd calls_{};
  UniqueFd shared_tmp_{};
  std::vector<Path> groups_{};
  Launched launched_{};
};

// Refuses unsafe standard streams.
Result<void> check_stdio(const Stdio& stdio);

// The command in memory shared with its process.
Result<child::Workload> freeze_workload(const Plan& plan, const Command& command,
                                        const Stdio& stdio, Region& region);

// The error for a failed step, in the words of the plan.
Error setup_error(const Plan& plan, const child::Report& report);

}  // namespace coop::run
