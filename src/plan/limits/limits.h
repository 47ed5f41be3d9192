// Limits: by a control group if one can be created, else by setrlimit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

struct LimitPlan {
  GroupPlan group{};
  std::vector<Step> steps{};
};

Result<LimitPlan> plan_limits(const Policy& policy, const HostFacts& host,
                              std::vector<std::string>& notes);

}  // namespace coop::plan
