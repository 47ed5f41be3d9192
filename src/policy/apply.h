// Settings become the Policy that the planner reads, and a Policy is held against the ceiling.
#pragma once

#include <string>

#include "base/result.h"
#include "coop/policy.h"
#include "policy/merge.h"

namespace coop::policy {

// The policy these settings stand for, on top of the defaults. Rules keep their origin as "file:line".
// What this kernel sandbox cannot do yet (containers, vm, another backend) is an error that names the
// file and line; base_image and auto_commit, which mean nothing without an image, become notes. Refusals
// become notes too, the first of them. A pattern in the organisation's path lists is an error where they
// are bounds. What a later scope protects is read-only, even if an earlier one made it writable.
Result<Policy> policy_from(const Effective& effective, const Surroundings& surroundings);

// The settings a policy amounts to, as far as files can say them, with the flags as origins: for
// holding the command line against the organisation's ceiling. Left out are the built-in secrets, rules with
// a relative path and rules inside a writable workspace: those are for the planner to judge. Sockets are
// taken as they are written.
Settings settings_of(const Policy& policy);

// An error that names the flag and the organisation's line when `policy` goes beyond the ceiling.
Result<void> check_ceiling(const Policy& policy, const Settings& ceiling);

}  // namespace coop::policy
