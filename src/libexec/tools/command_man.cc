// coop-mcp(1): the page about tools, from their table.
#include "cli/usage/man.h"
#include "libexec/tools/commands.h"
#include "tools/toolbox.h"

namespace coop::libexec {

namespace {

std::string arguments_text(const Json& schema) {
  const Json required = schema.value("required", Json::array());
  std::string text;
  for (const auto& [name, property] : schema.at("properties").items()) {
    text += (text.empty() ? "" : "; ") + name;
    const bool needed = std::ranges::find(required, Json(name)) != required.end();
    text += " (" + property.value("type", "") + (needed ? ")" : ", optional)");
    if (property.contains("description"))
      text += ": " + property.at("description").get<std::string>();
  }
  return text;
}

std::string entry(const tools::ToolInfo& tool) {
  const std::string trust(to_text(tool.least));
  return ".TP\n.B " + cli::roff(tool.name) + "\n" + cli::roff(tool.description) +
         " Needs the trust " + trust +
         ".\n.RS\n.P\nArguments: " + cli::roff(arguments_text(Json::parse(tool.schema))) +
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
