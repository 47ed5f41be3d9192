#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "cli/usage/usage.h"
#include "report/text.h"
#include "sys/fd.h"

namespace coop::cli {

namespace {

// A closed standard stream would be reused by the next open(), and our own files would become the
// command's standard output.
void ensure_standard_streams() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

// A closed pipe is no failure of the command; the exit code still tells the outcome.
void write_anyway(int fd, const std::string& text) {
  [[maybe_unused]] const Result<void> ignored =
      write_all(fd, text, fd == STDOUT_FILENO ? "standard output" : "standard error");
}

std::unexpected<Error> unknown_command(const std::string& name) {
  std::vector<std::string_view> names{"--version", "--help"};
  for (const CommandInfo& command : commands()) names.push_back(command.name);
  const std::string_view near = similar_name(name, names);
  if (!near.empty())
    return invalid("unknown command", name, "did you mean " + std::string(near) + "?");
  const bool flag = name.starts_with('-');
  return invalid(
      "unknown command", name,
      "see `coop --help`" + (flag ? "" : "; to run it in a sandbox: coop run -- " + name));
}

// `coop help policy show`
Result<int> print_help(Arguments words) {
  const std::string name = joined(words, " ");
  const CommandInfo* const command = find_command(name);
  if (command == nullptr) return unknown_command(name);
  print(help_text(*command));
  return 0;
}

Result<int> dispatch(Arguments arguments) {
  if (arguments.empty()) {
    print_usage_error(help_text());
    return kOwnFailure;
  }
  const std::string& name = arguments.front();
  if (name == "help" && arguments.size() > 1) return print_help(arguments.subspan(1));
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
    return run_command(*find_command("status"), arguments.subspan(2));
  // The name of a subcommand has a space in it, and is found by its group.
  if (const CommandInfo* command = find_command(name);
      command != nullptr && subcommand_of(*command).empty())
    return run_command(*command, arguments.subspan(1));
  return unknown_command(name);
}

}  // namespace

void print(const std::string& text) { write_anyway(STDOUT_FILENO, text); }

void print_usage_error(const std::string& help) {
  write_anyway(STDERR_FILENO, help + "\ncoop: no command was named\n");
}

Result<void> print_all(const std::string& text) {
  return with_context("printing the result", write_all(STDOUT_FILENO, text, "standard output"));
}

void say(const std::string& text) { write_anyway(STDERR_FILENO, "coop: " + text + "\n"); }

LogFormat log_format_in(Arguments arguments) {
  for (std::size_t index = 0; index < arguments.size() && arguments[index] != "--"; ++index) {
    const bool next = arguments[index] == "--log-format" && index + 1 < arguments.size() &&
                      arguments[index + 1] == "json";
    if (next || arguments[index] == "--log-format=json") return LogFormat::json;
  }
  return LogFormat::text;
}

void print_error(const Error& error, LogFormat format) {
  const std::string hint = hint_of(error);
  if (format == LogFormat::json)
    return Logger(STDERR_FILENO, format, LogLevel::error)
        .write(LogLevel::error, "", to_text(error), std::array{LogField{"hint", hint}});
  write_anyway(STDERR_FILENO,
               "coop: " + to_text(error) + "\n" + (hint.empty() ? "" : "hint: " + hint + "\n"));
}

void print_note(const std::string& text) {
  for (const std::string_view line : lines_of(text)) say(std::string(line));
}

int main_with(Arguments arguments) {
  ensure_standard_streams();
  // A file beyond `ulimit -f` is an error (EFBIG) to report, not our end in the middle of a run.
  ::signal(SIGXFSZ, SIG_IGN);
  const Result<int> code = dispatch(arguments);
  if (code) return *code;
  print_error(code.error(), log_format_in(arguments));
  return kOwnFailure;
}

}  // namespace coop::cli
