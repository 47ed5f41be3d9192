// The same sandbox as coop's plan, in the words of other programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch.h"
#include "plan/plan.h"
#include "scratch.h"

namespace coop::bench {

using Words = std::vector<std::string>;

enum class Filter { none, seccomp };

// bubblewrap with the plan's namespaces, binds, tmpfs, links and files; with Filter::seccomp it
// also loads the very filter coop installs. It has no Landlock.
Result<Launch> bwrap_launch(const Plan& plan, const Scratch& scratch, Filter filter,
                            const Words& command);

// An OCI bundle with the plan's namespaces and mounts, and the call that runs it. `runtime` is
// "crun" or "runc". No seccomp, no Landlock, no control group.
Result<Launch> oci_launch(const std::string& runtime, const Plan& plan, const Scratch& scratch,
                          const Words& command);

// util-linux: namespaces alone, the host's tree in plain sight.
Result<Launch> unshare_launch(const Words& command);

// Firejail with an empty home and no network; the host's tree read-only where it chooses.
Result<Launch> firejail_launch(const Path& workspace, const Words& command);

// `coop run FLAGS -- COMMAND`.
Launch coop_launch(const Path& program, const Path& workspace, const Words& flags,
                   const Words& command);

}  // namespace coop::bench
