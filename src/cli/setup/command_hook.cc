#include <unistd.h>

#include "cli/usage/usage.h"
#include "setup/hook.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

constexpr std::size_t kLargestEvent = std::size_t{16} << 20;

Result<void> answer(const Parsed& parsed) {
  if (parsed.arguments.empty() || parsed.arguments.front() != "claude")
    return invalid("hook", "there is a hook for claude alone", "coop setup claude --bash");
  const std::string input = TRY(read_all(STDIN_FILENO, "standard input", kLargestEvent));
  const Path program = TRY(read_link("/proc/self/exe"));
  const std::string said = TRY(setup::claude_hook(input, program));
  return print_all(said);
}

}  // namespace

// Status 2 alone makes the agent refuse the call. With any other status the command would run outside.
Result<int> command_hook(const Parsed& parsed) {
  constexpr int kRefuse = 2;
  const Result<void> answered = answer(parsed);
  if (answered) return 0;
  print_error(answered.error());
  return kRefuse;
}

}  // namespace coop::cli
