// policies/secrets.txt for this machine and user.
#pragma once

#include <vector>

#include "base/result.h"
#include "coop/policy.h"
#include "host/facts.h"

namespace coop::run {

// One rule for each path that matches now. Matches that have disappeared since, and dangling symlinks, need no rule.
Result<void> add_matches(std::vector<PathRule>& rules, const PathRule& rule);

// The list as hide rules, patterns replaced by their matches.
Result<std::vector<PathRule>> built_in_secrets(const HostFacts& host);

}  // namespace coop::run
