// Turns settings into the Policy that the planner reads.
#pragma once

#include <string>

#include "base/result.h"
#include "coop/policy.h"
#include "policy/merge/merge.h"

namespace coop::policy {

// The policy of these settings, on top of the defaults. Rules keep their origin as "file:line".
// What the kernel backend does not support (containers, vm, another backend) is an error that names
// the file and line; base_image and auto_commit, which need an image, become notes. The first
// refusals become notes too. A pattern in the organisation's path lists is an error where they are
// bounds. What a later scope protects is read-only, even if an earlier one made it writable.
// The path lists of the command line are left out: its rules keep the order of the flags, and the resolver adds them.
Result<Policy> policy_from(const Effective& effective, const Surroundings& surroundings);

}  // namespace coop::policy
