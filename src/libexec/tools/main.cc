// coop-tools: the commands that need more libraries than a sandbox does.
#include <string>
#include <vector>

#include "libexec/tools/commands.h"

namespace {

coop::Result<int> dispatch(coop::cli::Arguments arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (command == "tool") return coop::libexec::command_tool(arguments.subspan(1));
  if (command == "mcp") return coop::libexec::command_mcp(arguments.subspan(1));
  return coop::invalid("coop-tools", "this program is a part of coop", "run coop tool or coop mcp");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const coop::Result<int> code = dispatch(arguments);
  if (code) return *code;
  coop::cli::print_error(code.error());
  return coop::cli::kOwnFailure;
}
