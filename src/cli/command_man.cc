#include "base/path.h"
#include "cli/libexec.h"
#include "cli/usage/man.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

// Of a command: the page that has it.
std::string page_of(const std::string& name) {
  if (name == "run" || name == "plan") return "coop-run";
  if (name == "policy") return "coop-policy";
  if (name == "mcp" || name == "tool") return "coop-mcp";
  return find_command(name) != nullptr ? "coop" : name;
}

}  // namespace

Result<int> command_man(const Parsed& parsed) {
  const std::string name = page_of(parsed.arguments.empty() ? "coop" : parsed.arguments.front());
  // Its section on tools comes from their table, which only coop-tools has.
  if (name == "coop-mcp") return become("tools", "man", {});
  const std::optional<std::string> page = man_page(name);
  if (!page)
    return invalid("man", "there is no page \"" + printable(name) + "\"",
                   "coop, coop-run, coop-policy or coop-mcp");
  print(*page);
  return 0;
}

}  // namespace coop::cli
