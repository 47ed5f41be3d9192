// Secrets in the workspace, by the names in policies/workspace_secrets.txt.
#pragma once

#include <vector>

#include "base/result.h"
#include "coop/policy.h"

namespace coop::run {

// One hide rule for each that is there now. A directory that cannot be read is hidden as a whole. Too many matches or entries are an
// error: a secret that was not looked at would be shown.
Result<std::vector<PathRule>> workspace_secret_rules(const Path& workspace);

}  // namespace coop::run
