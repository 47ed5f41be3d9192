// coop's plan, expressed for other programs.
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

// bubblewrap with the plan's namespaces, binds, tmpfs, symlinks and files; with Filter::seccomp it
// also loads coop's own filter. It has no Landlock.
Result<Launch> bwrap_launch(const Plan& plan, const Scratch& scratch, Filter filter,
                            const Words& command);

// An OCI bundle with the plan's namespaces and mounts, and the command line that runs it. `runtime`
// is "crun" or "runc". No seccomp, no Landlock, no control group.
Result<Launch> oci_launch(const std::string& runtime, const Plan& plan, const Scratch& scratch,
                          const Words& command);

// util-linux: namespaces only, the host's file system stays visible.
Result<Launch> unshare_launch(const Words& command);

// Firejail with an empty home and no network.
Result<Launch> firejail_launch(const Path& workspace, const Words& command);

// `coop run FLAGS -- COMMAND`.
Launch coop_launch(const Path& program, const Path& workspace, const Words& flags,
                   const Words& command);

}  // namespace coop::bench
