// Limits: by a control group if one can be created, else by setrlimit.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

// Of the sandbox's own namespaces: a part of what processes of this user share, so that one sandbox cannot use all of it.
void add_shared_limits(Plan& plan, const Policy& policy, const HostFacts& host);

// Adds the control group, the steps for setrlimit, and notes on what is weaker than asked for.
Result<void> add_limits(Plan& plan, const Policy& policy, const HostFacts& host);

}  // namespace coop::plan
