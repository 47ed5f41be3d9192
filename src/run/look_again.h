// A prepared sandbox was built from what the host looked like then. Before it is used, everything is looked at again.
#pragma once

#include "plan/plan.h"
#include "run/sandbox_state.h"

namespace coop::run {

// False when the host has put another file or directory in the place of one that the plan mounts. `root` is the
// sandbox's root descriptor.
bool mounts_are_current(int root, const Plan& plan);

// Plans `policy` again with the facts of this moment: guarded files, secrets, sockets, patterns, the organisation's
// policy. False when the prepared sandbox is not exactly what would be built now, and so must not be used.
bool look_again(Sandbox::State& state, const Policy& policy);

}  // namespace coop::run
