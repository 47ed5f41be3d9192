// A Policy, however it was made, is held within the ceiling of the organisation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/policy.h"
#include "policy/merge/merge.h"

namespace coop::policy {

// The rules as items of the path lists. Rules inside `workspace` (empty: none) are omitted, since
// it is visible anyway: the planner checks every rule against Policy::bounds by its canonical path.
void add_path_rules(Settings& settings, const std::vector<PathRule>& rules, const Path& workspace);

// What a policy grants beyond coop's defaults, as a layer of settings. Its paths must be absolute.
Settings layer_of(const Policy& policy);

// `policy` with what the ceiling takes away: limits where it has coop's defaults, hidden and protected paths, denied
// hosts, bounds. Where it asks for more than the ceiling allows, an error names its origin and the ceiling's line. A
// policy that is within the ceiling already comes back as it is.
Result<Policy> bounded(Policy policy, const Settings& ceiling, const Surroundings& surroundings);

// The variables of a command are held within the ceiling like those of a policy.
Result<void> check_environment(const std::map<std::string, std::string>& variables,
                               const Bounds& bounds);

// `--memory: "2g" is beyond the organisation's "1g"`
Error beyond_error(const Refusal& refusal);

}  // namespace coop::policy
