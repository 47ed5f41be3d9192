// coop's own directories on the host, which a sandbox could otherwise create.
#pragma once

#include <map>
#include <span>

#include "base/result.h"
#include "coop/policy.h"
#include "host/facts.h"

namespace coop::run {

// Directories that do not exist: the path as written, and the path without symlinks once it exists.
using MissingDirectories = std::map<Path, Path>;

// A directory that does not exist cannot be hidden: a command whose workspace is a home directory could create it and
// write the policy and the approvals of the next run. These are the ones that lie in a writable tree, with the missing
// directories above them. So is a kept home, which is shown. `policy` has its workspace and the paths of its rules completed.
MissingDirectories missing_own_directories(const Policy& policy, const HostFacts& host);

// Creates them, empty. Only a sandbox that starts needs them.
Result<void> make_directories(const MissingDirectories& missing);

// For a plan that is only looked at: the facts about those of `paths` that make_directories() would create, as if it had.
void assume_directories(HostFacts& host, std::span<const Path> paths,
                        const MissingDirectories& missing);

}  // namespace coop::run
