// The commands of coop-tools.
#pragma once

#include "cli/usage/usage.h"

namespace coop::libexec {

Result<int> command_tool(const cli::Parsed& flags);
Result<int> command_man();
Result<int> command_mcp(const cli::Parsed& flags);

}  // namespace coop::libexec
