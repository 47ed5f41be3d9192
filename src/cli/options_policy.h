// The policy a command line stands for, with caches expanded.
#pragma once

#include "base/result.h"
#include "cli/flags.h"

namespace coop::cli {

Result<Policy> policy_of(const Options& options);

}  // namespace coop::cli
