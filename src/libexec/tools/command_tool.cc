#include "base/path.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/tools_options.h"

namespace coop::libexec {

namespace {

std::string list_text(const tools::Toolbox& toolbox) {
  std::string text;
  for (const tools::ToolInfo* tool : toolbox.tools())
    text += std::string(tool->name) +
            std::string(14 - std::min<std::size_t>(tool->name.size(), 13), ' ') +
            std::string(tool->description) + "\n";
  return text.empty() ? "this trust may use no tools\n" : text;
}

}  // namespace

Result<int> command_tool(const cli::Parsed& flags) {
  if (flags.arguments.empty() && !flags.has("--list"))
    return invalid("tool", "no tool is named", "coop tool NAME '{…}', or coop tool --list");
  const ToolsOptions options = TRY(tools_options(flags));
  const tools::OpenedTools opened = TRY(tools::open_tools(options.request));
  if (flags.has("--list")) {
    TRY(cli::print_all(list_text(*opened.toolbox)));
    return 0;
  }
  const Json call = flags.arguments.size() < 2 ? Json::object() : parse_json(flags.arguments[1]);
  if (call.is_discarded())
    return invalid("tool",
                   "the arguments are not JSON: " + printable(flags.arguments[1].substr(0, 80)),
                   R"(write them like '{"path": "README.md"}')");
  const tools::ToolOutput output = opened.toolbox->call(flags.arguments[0], call);
  if (flags.has("--json")) {
    const Json json{
        {"text", output.text}, {"structured", output.structured}, {"failed", output.failed}};
    TRY(cli::print_all(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  } else {
    const std::string end = output.text.empty() || output.text.ends_with('\n') ? "" : "\n";
    TRY(cli::print_all(output.text + end));
  }
  return output.failed ? 1 : 0;
}

}  // namespace coop::libexec
