// Takes away what appeared under a guarded name during a run, and keeps its bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace coop::run {

struct QuarantineReport {
  std::vector<Quarantined> moved{};
  std::vector<std::string> notes{};  // what could not be looked at or moved, and why
};

// Looks through the plan's guard roots again, after everything inside is dead, and moves what
// `before` does not have to `directory` (made when needed, mode 0700; relative paths are kept).
// `before` has one entry for each root, in order. Loses nothing: a file is removed from the
// workspace only once its copy is complete. Never follows a symlink.
QuarantineReport quarantine(const GuardPlan& guards, const std::vector<WorkspaceFacts>& before,
                            const Path& directory);

}  // namespace coop::run
