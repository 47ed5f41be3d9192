// Limits: a control group where this machine lets us make one, else what setrlimit can do.
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
