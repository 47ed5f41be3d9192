#include "base/path.h"
#include "cli/usage/usage.h"

namespace coop::cli {

Result<int> command_completion(const Parsed& parsed) {
  if (parsed.arguments.empty())
    return invalid("completion", "no shell is named", "coop completion bash|zsh|fish");
  const std::string& shell = parsed.arguments.front();
  const std::optional<std::string> script = completion_for(shell);
  if (!script)
    return invalid("completion", "\"" + printable(shell) + "\" is not a known shell",
                   "coop completion bash|zsh|fish");
  print(*script);
  return 0;
}

}  // namespace coop::cli
