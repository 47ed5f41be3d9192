// The login of an agent, for its private home.
#pragma once

#include "base/result.h"
#include "cli/options_policy.h"
#include "cli/run_log.h"

namespace coop::cli {

// With --import-login copies the user's. At a terminal it offers the copy once, where one works; else it says that the agent
// needs a login of its own. Nothing is ever copied back.
Result<void> provide_login(const Request& request, RunLog& log);

}  // namespace coop::cli
