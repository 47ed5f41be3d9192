// A prepared sandbox was built from what the host looked like then. Before it is used, everything is looked at again.
#pragma once

#include "guards/quarantine.h"
#include "plan/plan.h"
#include "run/sandbox_state.h"

namespace coop::run {

// False when the host has put another file or directory in the place of one that the plan mounts.
bool mounts_are_current(const guards::InsideView& view, const Plan& plan);

// Plans `policy` again with the facts of this moment: guarded files, secrets, sockets, patterns, the organisation's
// policy. False when the prepared sandbox is not exactly what would be built now, and so must not be used.
bool look_again(Sandbox::State& state, const Policy& policy);

}  // namespace coop::run
