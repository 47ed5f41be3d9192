// The command's environment: an allow-list of the caller's, then what the policy sets.
#pragma once

#include <map>
#include <string>

#include "plan/plan.h"

namespace coop::plan {

// When the sandbox was made.
inline constexpr const char* kCreatedVariable = "COOP_CREATED";

std::map<std::string, std::string> environment_for(const Policy& policy, const HostFacts& host);

}  // namespace coop::plan
