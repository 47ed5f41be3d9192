#include "base/path.h"
#include "cli/libexec.h"
#include "cli/usage/man.h"
#include "cli/usage/usage.h"

namespace coop::cli {

Result<int> command_man(const Parsed& parsed) {
  std::string name = parsed.arguments.empty() ? "coop" : parsed.arguments.front();
  if (name == "run" || name == "policy" || name == "mcp") name = "coop-" + name;
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
