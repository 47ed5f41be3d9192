// Starting a sandbox: the only place that clones.
#pragma once

#include <optional>

#include "base/result.h"
#include "child/program.h"
#include "coop/sandbox.h"
#include "plan/plan.h"
#include "run/freeze.h"
#include "run/group.h"
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
};

// A sandbox whose init was cloned. Closing `control` kills everything inside.
struct Launched {
  UniqueFd pidfd{};
  UniqueFd control{};
  UniqueFd request{};  // prepared: where the command is sent
};

Result<Launched> launch(const Plan& plan, const Command* command, const LaunchOptions& options,
                        const Group& group);

// The sentence for a failed step, as the plan words it.
Error setup_error(const Plan& plan, const child::Report& report);

}  // namespace coop::run
