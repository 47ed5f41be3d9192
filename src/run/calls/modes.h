// chmod(2) and its relatives with the set-group-id bit: allowed for directories.
#pragma once

#include <linux/seccomp.h>

#include "run/calls/caller.h"

namespace coop::run {

// What the call returns: 0 or an errno.
int set_mode(const Caller& caller, const seccomp_data& call);

}  // namespace coop::run
