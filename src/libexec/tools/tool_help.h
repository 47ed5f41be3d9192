// What a tool takes, for people.
#pragma once

#include <string>

#include "tools/toolbox.h"

namespace coop::libexec {

// "command (string): what bash -c runs; timeout (integer, optional): …"
std::string arguments_text(const tools::ToolInfo& tool);
// "command [timeout] [directory]"
std::string argument_names(const tools::ToolInfo& tool);
// What it needs at least, as JSON: {"command": "make test"}.
std::string example_of(const tools::ToolInfo& tool);
// The answer to `coop tool NAME --help`.
std::string tool_help(const tools::ToolInfo& tool);

}  // namespace coop::libexec
