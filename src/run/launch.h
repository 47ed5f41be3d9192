// Starting a sandbox: the only place that clones.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/result.h"
#include "child/program.h"
#include "coop/sandbox.h"
#include "plan/plan.h"
#include "run/freeze.h"
#include "run/group.h"
#include "run/region.h"
#include "sys/fd.h"

namespace coop::run {

enum class ParentDeath {
  noticed,   // by the end of the control socket: enough, and safe with many threads
  signalled  // by PR_SET_PDEATHSIG too: only when the calling thread lives as long as the process
};

struct LaunchOptions {
  Stdio stdio{};
  std::optional<TerminalSize> terminal{};
  ParentDeath parent_death = ParentDeath::noticed;
  // No command yet: the workload waits for one. See pool.h.
  bool prepared = false;
  // The caller waits for the end at once. The janitor comes only for a command that lasts.
  bool attended = false;
  // When it is known at the start: init ends the run shortly after it, should the supervisor be
  // unable to.
  std::optional<std::chrono::milliseconds> timeout{};
  // Told of each decision about the network while somebody waits for the end.
  std::function<void(const NetworkEvent&)> network{};
  // The process is ours alone: it may have as many descriptors as it is allowed, for connections.
  bool raise_descriptors = false;
};

// A sandbox whose init was cloned. Closing `control` kills everything inside.
struct Launched {
  UniqueFd pidfd{};
  UniqueFd control{};
  UniqueFd request{};  // prepared: where the command is sent
  Region region{};     // what the child reads; it may still be at it
};

// A start in two parts. The first clones the child, which makes its namespaces while the supervisor
// still plans; the second hands it the rest of the plan. A launch that is not completed kills it.
class Launch {
 public:
  Launch(Launch&&) noexcept = default;
  Launch& operator=(Launch&&) = delete;
  ~Launch();

  // `early` is what plan::begin() gave.
  static Result<Launch> begin(const Plan& early, const LaunchOptions& options, const Group& group);
  // Where the child passes what listens inside; not valid when nothing does.
  UniqueFd take_network() { return std::move(network_); }
  int pid() const { return pid_; }
  // `plan` begins with the steps of `early`.
  Result<Launched> complete(const Plan& plan, const Command* command) &&;

 private:
  Launch() = default;

  LaunchOptions options_{};
  Region region_{};
  std::size_t early_steps_ = 0;
  int child_control_ = -1;  // numbers in the child's table
  int child_request_ = -1;
  int child_network_ = -1;
  int pid_ = -1;
  UniqueFd network_{};
  Launched launched_{};
};

// Refuses what must not be a standard stream in there.
Result<void> check_stdio(const Stdio& stdio);

// The command as its process will find it, in memory shared with it.
Result<child::Workload> freeze_workload(const Plan& plan, const Command& command,
                                        const Stdio& stdio, Region& region);

// The sentence for a failed step, as the plan words it.
Error setup_error(const Plan& plan, const child::Report& report);

}  // namespace coop::run
