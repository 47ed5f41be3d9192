// coop-tools: the commands that need more libraries than a sandbox does.
#include <signal.h>
#include <sys/prctl.h>

#include <string>
#include <vector>

#include "libexec/tools/commands.h"
#include "libexec/tools/tool_help.h"

namespace {

coop::Result<int> dispatch(coop::cli::Arguments arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (name == "man") return coop::libexec::command_man();
  const bool ours = name == "tool" || name == "mcp";
  if (!ours)
    return coop::invalid("coop-tools", "this program is a part of coop",
                         "run coop tool or coop mcp");
  const coop::cli::Parsed parsed =
      TRY(coop::cli::parse_command(*coop::cli::find_command(name), arguments.subspan(1)));
  if (parsed.has("--help")) {
    const coop::tools::ToolInfo* tool =
        parsed.arguments.empty() ? nullptr : coop::tools::find_tool(parsed.arguments.front());
    coop::cli::print(tool == nullptr ? help_text(*parsed.command)
                                     : coop::libexec::tool_help(*tool));
    return 0;
  }
  return name == "tool" ? coop::libexec::command_tool(parsed) : coop::libexec::command_mcp(parsed);
}

}  // namespace

int main(int argc, char** argv) {
  // A process of the same user, an owner's command for instance, must not ptrace us or read the token in our memory.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(SIGXFSZ, SIG_IGN);  // EFBIG is an error to report
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const coop::Result<int> code = dispatch(arguments);
  if (code) return *code;
  coop::cli::print_error(code.error(), coop::cli::log_format_in(arguments));
  return coop::cli::kOwnFailure;
}
