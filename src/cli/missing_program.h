// Why a command was not found inside, and what would show it.
#pragma once

#include <string>

#include "policy/policy.h"

namespace coop::cli {

// `program` as it was named. One sentence; looks at the host again, so it is for after the failure.
std::string explain_missing(const Policy& policy, const std::string& program);

}  // namespace coop::cli
