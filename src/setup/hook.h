// The hook by which an agent's own shell commands run in a sandbox.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::setup {

// Claude Code's PreToolUse: from what it sends to what it reads. The command of Bash becomes one of `program`, the path of
// coop. An error for all that is not such a call: the caller must refuse it.
Result<std::string> claude_hook(std::string_view input, std::string_view program);

}  // namespace coop::setup
