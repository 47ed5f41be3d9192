// SOUL.md, IDENTITY.md, USER.md: the files that say who the agent is, which the agent may not write.
#pragma once

#include <string_view>
#include <vector>

#include "coop/policy.h"

namespace coop::tools {

// Whether one of the path's names is one of these, in any case, whether there is such a file or not.
bool is_identity_file(std::string_view path);
// The same for commands: rules for the files at the top of the workspace.
std::vector<PathRule> identity_rules(const Path& workspace);

}  // namespace coop::tools
