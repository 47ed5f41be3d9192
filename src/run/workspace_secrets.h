// Secrets in the workspace, by the names in policies/workspace_secrets.txt.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coop/host_facts.h"
#include "coop/policy.h"

namespace coop::run {

// One hide rule for each that is there now. A directory that cannot be read is hidden as a whole. Too many matches or entries are an
// error: a secret that was not looked at would be shown.
Result<std::vector<PathRule>> workspace_secret_rules(const Path& workspace);

// What is asked to be hidden and is not: git's settings with a token in them, without which git inside would find no
// repository. One note for each.
std::vector<std::string> notes_on_tokens(const WorkspaceFacts& workspace);

}  // namespace coop::run
