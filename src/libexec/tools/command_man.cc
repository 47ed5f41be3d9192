// coop-mcp(1): the page about tools, from their table.
#include "cli/usage/man.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/tool_help.h"

namespace coop::libexec {

namespace {

std::string entry(const tools::ToolInfo& tool) {
  const std::string trust(to_text(tool.least));
  return ".TP\n.B " + cli::roff(tool.name) + "\n" + cli::roff(tool.description) +
         " Needs the trust " + trust + ".\n.RS\n.P\nArguments: " + cli::roff(arguments_text(tool)) +
         ".\n.P\nResult: " + cli::roff(tool.returns) + ".\n.RE\n";
}

}  // namespace

Result<int> command_man() {
  std::string text;
  for (const tools::ToolInfo& tool : tools::tool_table()) text += entry(tool);
  cli::print(*cli::man_page("coop-mcp", text));
  return 0;
}

}  // namespace coop::libexec
