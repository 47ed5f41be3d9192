// The commands of coop-tools.
#pragma once

#include "cli/command.h"

namespace coop::libexec {

Result<int> command_tool(cli::Arguments arguments);
Result<int> command_mcp(cli::Arguments arguments);

}  // namespace coop::libexec
