// Commands that are programs of their own, found beside this one (docs/adr/0010).
#pragma once

#include "cli/command.h"

namespace coop::cli {

// Becomes ../libexec/coop/coop-PROGRAM with these arguments; returns only when that fails. Looks nowhere
// else: what an agent left on the PATH must not become a command of ours.
Result<int> become(const std::string& program, const std::string& command, Arguments arguments);

Result<int> command_tool(Arguments arguments);
Result<int> command_mcp(Arguments arguments);

}  // namespace coop::cli
