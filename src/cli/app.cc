#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "cli/command.h"
#include "cli/libexec.h"
#include "sys/fd.h"

namespace coop::cli {

namespace {

struct Command {
  std::string_view name;
  Result<int> (*run)(Arguments arguments);
};

constexpr std::array kCommands{
    Command{"run", command_run},       Command{"plan", command_plan},
    Command{"policy", command_policy}, Command{"trust", command_trust},
    Command{"config", command_config}, Command{"status", command_status},
    Command{"tool", command_tool},     Command{"mcp", command_mcp},
    Command{"man", command_man},       Command{"completion", command_completion},
};

// A missing standard stream would be filled by the next open(), and our own files would then be
// the command's standard output.
void ensure_standard_streams() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

Result<int> dispatch(Arguments arguments) {
  if (arguments.empty()) {
    print(help_text());
    return kOwnFailure;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print(help_text());
    return 0;
  }
  if (name == "--version" || name == "version") {
    print("coop " COOP_VERSION "\n");
    return 0;
  }
  // `coop sandbox status` is another name for `coop status`.
  if (name == "sandbox" && arguments.size() > 1 && arguments[1] == "status")
    return command_status(arguments.subspan(2));
  for (const Command& command : kCommands)
    if (command.name == name) return command.run(arguments.subspan(1));
  return invalid("unknown command", name,
                 "see `coop --help`; to run it in a sandbox: coop run -- " + name);
}

}  // namespace

void print(const std::string& text) {
  // A reader that went away is its own business; the exit code still tells the outcome.
  [[maybe_unused]] const Result<void> ignored = write_all(STDOUT_FILENO, text, "standard output");
}

Result<void> print_all(const std::string& text) {
  return with_context("printing the result", write_all(STDOUT_FILENO, text, "standard output"));
}

void say(const std::string& text) {
  [[maybe_unused]] const Result<void> ignored =
      write_all(STDERR_FILENO, "coop: " + text + "\n", "standard error");
}

void print_error(const Error& error) {
  std::string text = "coop: " + to_text(error) + "\n";
  if (!error.hint.empty()) text += "hint: " + error.hint + "\n";
  [[maybe_unused]] const Result<void> ignored = write_all(STDERR_FILENO, text, "standard error");
}

void print_note(const std::string& text) {
  std::istringstream lines(text);
  std::string shown;
  for (std::string line; std::getline(lines, line);) shown += "coop: " + line + "\n";
  [[maybe_unused]] const Result<void> ignored = write_all(STDERR_FILENO, shown, "standard error");
}

int main_with(Arguments arguments) {
  ensure_standard_streams();
  const Result<int> code = dispatch(arguments);
  if (code) return *code;
  print_error(code.error());
  return kOwnFailure;
}

}  // namespace coop::cli
