// Plans a sandbox and starts nothing: what `coop run` would refuse becomes a finding.
#pragma once

#include <string>

#include "policy/settings/findings.h"
#include "request/resolve.h"

namespace coop::cli {

// `whose` begins the message: `user "bob"`. Without a workspace that may be the current directory, nothing is planned,
// and a warning says so.
void try_plan(const request::Wanted& wanted, request::Purpose purpose, const Origin& origin,
              const std::string& whose, policy::Findings& findings);
// The same of a policy that has been made already.
void try_plan(Policy policy, const Origin& origin, const std::string& whose,
              policy::Findings& findings);

}  // namespace coop::cli
