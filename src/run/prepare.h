// From a policy to everything a start needs: the facts are gathered, the plan is made.
#pragma once

#include <vector>

#include "base/result.h"
#include "coop/policy.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace coop::run {

struct Prepared {
  Policy policy{};  // as completed: with the built-in rules, and patterns as what they matched
  Plan plan{};
  std::vector<WorkspaceFacts> before{};  // one for each of plan.guards.roots
  Path quarantine{};                     // where guarded files of this session go
};

// What is known before the file system is looked at.
struct Draft {
  Policy policy{};
  HostFacts host{};
};

// Completes the policy (session, workspace, absolute paths, the built-in secrets) and matches patterns.
Result<Draft> begin_prepare(Policy policy);
// Whether the limits ask for a control group, which must exist before the child does.
bool wants_group(const Draft& draft);
// Looks at this machine and compiles.
Result<Prepared> finish_prepare(Draft draft);

// Both. Completes the policy (session, workspace, absolute paths, the built-in secrets), looks at this
// machine and compiles.
Result<Prepared> prepare(Policy policy);

// Eight random letters and digits.
std::string new_session();

}  // namespace coop::run
