#include <sys/stat.h>
#include <unistd.h>

#include "cli/usage/usage.h"
#include "setup/hook.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

constexpr std::size_t kLargestEvent = std::size_t{16} << 20;

// Without an answer the agent runs the command as it is. A closed standard output has become /dev/null before this.
Result<void> check_output() {
  struct stat output{};
  struct stat null{};
  if (::fstat(STDOUT_FILENO, &output) < 0) return system_error("stat", "standard output");
  if (::stat("/dev/null", &null) < 0) return system_error("stat", "/dev/null");
  const bool leads_nowhere = S_ISCHR(output.st_mode) && output.st_rdev == null.st_rdev;
  return leads_nowhere ? invalid("hook", "standard output leads nowhere") : Result<void>{};
}

Result<void> answer(const Parsed& parsed) {
  TRY(check_output());
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
