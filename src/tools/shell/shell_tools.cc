#include "tools/shell/shell_tools.h"

#include <algorithm>

#include "base/path.h"
#include "policy/variables.h"
#include "report/text.h"

namespace coop::tools {

namespace {

constexpr std::string_view kEndedBackground =
    "background processes still ran at the end of the command and were ended: nothing runs on "
    "between calls";

Json captured_json(const Captured& captured) {
  return {{"text", captured.text},
          {"total_bytes", captured.total_bytes},
          {"truncated", captured.truncated}};
}

std::string seconds_text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s"
                                  : std::to_string(time.count()) + " ms";
}

std::string ending_text(const ExecOutput& output, std::chrono::milliseconds timeout) {
  switch (output.outcome) {
    case Outcome::exited:
      return output.exit_code == 0 ? "" : "exit code " + std::to_string(output.exit_code);
    case Outcome::signalled: return "killed by " + signal_text(output.signal);
    case Outcome::timed_out: return "killed after the timeout of " + seconds_text(timeout);
    case Outcome::out_of_memory: return "killed: out of memory";
    case Outcome::violation: return "killed by the system call filter";
    case Outcome::not_found: return "the program was not found";
    case Outcome::not_executable: return "not a program that can be run";
    case Outcome::guards_incomplete:
      return "guarded files that it made may still be in the workspace, see notes";
    case Outcome::network_incomplete: return "ended: the rules of its network, see notes";
  }
  return "";
}

void add_line(std::string& text, const std::string& line) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += line;
}

ToolOutput answer(const ExecOutput& output, std::chrono::milliseconds timeout) {
  ToolOutput result;
  result.text = output.standard_output.text;
  if (!output.standard_error.text.empty()) add_line(result.text, output.standard_error.text);
  Json denials = Json::array();
  for (const Denial& denial : output.denials) {
    const std::string rule = report::rule_text(denial);
    const std::string grant = report::grant_text(denial);
    denials.push_back({{"what", denial.what}, {"rule", rule}, {"grant", grant}});
    add_line(result.text, "denied: " + denial.what + " by " + rule +
                              (grant.empty() ? "" : "; to allow: " + grant));
  }
  Json quarantined = Json::array();
  for (const Quarantined& moved : output.quarantined) {
    quarantined.push_back(
        {{"path", moved.path}, {"rule", "guard " + moved.guard}, {"problem", moved.problem}});
    add_line(result.text, "taken away: " + printable(moved.path) + " (guard " + moved.guard +
                              (moved.problem.empty() ? "" : ": " + moved.problem) + ")");
  }
  if (output.quarantined_total > output.quarantined.size())
    add_line(result.text, "taken away: " + std::to_string(output.quarantined_total) + " in all");
  if (const std::string ending = ending_text(output, timeout); !ending.empty())
    add_line(result.text, "[" + ending + "]");
  std::vector<std::string> notes = output.notes;
  // The program often says only that it failed, and the model would ask for a grant that it has.
  for (const NetworkEvent& event : report::unreached_of(output.network)) {
    notes.push_back(report::unreached_text(event));
    add_line(result.text, "[" + notes.back() + "]");
  }
  if (output.ended_background) {
    notes.emplace_back(kEndedBackground);
    add_line(result.text, "[" + std::string(kEndedBackground) + "]");
  }
  result.failed = output.outcome != Outcome::exited || output.exit_code != 0;
  result.structured = {{"outcome", to_text(output.outcome)},
                       {"exit_code", output.exit_code},
                       {"stdout", captured_json(output.standard_output)},
                       {"stderr", captured_json(output.standard_error)},
                       {"wall_ms", output.usage.wall.count() / 1000},
                       {"denials", denials},
                       {"quarantined", quarantined},
                       {"quarantined_total", output.quarantined_total},
                       {"notes", notes}};
  return result;
}

// Where to start: a directory of the workspace, said in words a model understands when it is not.
Result<Path> directory_of(const ShellPlace& place, const Json& arguments) {
  const auto found = arguments.find("directory");
  if (found == arguments.end()) return place.workspace;
  const std::string wanted = found->get<std::string>();
  const FileView view = TRY(place.view());
  const OpenedFile opened =
      TRY(with_context("working directory", view.open(wanted.empty() ? "." : wanted)));
  if (!S_ISDIR(opened.status.st_mode))
    return invalid("working directory", "\"" + printable(wanted) + "\" is not a directory");
  if (!is_within(opened.inside, view.workspace_inside()))
    return invalid(
        "working directory",
        "\"" + printable(wanted) + "\" is outside the workspace " + printable(place.workspace),
        "name a directory in the workspace, relative to it");
  return opened.inside;
}

std::chrono::milliseconds timeout_of(const ShellPlace& place, const Json& arguments) {
  const auto found = arguments.find("timeout");
  const std::chrono::milliseconds wanted =
      found == arguments.end() ? place.timeout : std::chrono::seconds(found->get<std::int64_t>());
  return std::min(wanted, place.longest.value_or(wanted));
}

// Programs an agent made for itself come last: a `git` among them must not take the place of git.
std::string path_with_tools(const std::string& path, const Path& tools) {
  if (tools.empty()) return path;
  return path.empty() ? tools : path + ":" + tools;
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of(
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789_") == std::string_view::npos;
}

Result<void> add_environment(Command& command, const Json& arguments) {
  const auto found = arguments.find("environment");
  if (found == arguments.end()) return {};
  for (const auto& [name, value] : found->items()) {
    Result<void> allowed = policy::check_variable(name, "environment", {});
    if (!allowed) {
      allowed.error().rule = Rule::of_coop(Part::injected_variables);
      allowed.error().hint.clear();  // it names a flag that a caller of tools does not have
      return allowed;
    }
    if (!is_variable_name(name))
      return invalid("environment", "\"" + printable(name) + "\" is not a variable's name");
    command.environment[name] = value.get<std::string>();
  }
  return {};
}

Result<Command> prepared(const ShellPlace& place, Command command, const Json& arguments) {
  if (place.path) command.environment["PATH"] = path_with_tools(*place.path, place.tools);
  const Path directory = TRY(directory_of(place, arguments));
  command.directory = directory;
  TRY(add_environment(command, arguments));
  for (const std::string& word : command.arguments)
    if (word.find('\0') != std::string::npos)
      return invalid("", "a command cannot have the character NUL in it");
  return command;
}

ToolOutput answer_of(const Result<ExecOutput>& output, std::chrono::milliseconds timeout) {
  return output ? answer(*output, timeout) : refusal(output.error());
}

bool could_not_run(const Result<ExecOutput>& output) {
  return output &&
         (output->outcome == Outcome::not_found || output->outcome == Outcome::not_executable);
}

}  // namespace

// Only the sandbox knows whether there is a bash inside: it is tried, once.
ToolOutput bash(const ShellPlace& place, const Runner& runner, const Json& arguments) {
  const std::string shell = arguments.at("command").get<std::string>();
  if (shell.empty()) return refusal("the command is empty");
  const std::chrono::milliseconds timeout = timeout_of(place, arguments);
  Result<Command> command =
      prepared(place, {.arguments = {"/bin/bash", "-c", "--", shell}}, arguments);
  if (!command) return refusal(command.error());
  if (place.lacks_bash == nullptr || !*place.lacks_bash) {
    const Result<ExecOutput> output = runner(*command, timeout);
    if (!could_not_run(output)) return answer_of(output, timeout);
    if (place.lacks_bash != nullptr) *place.lacks_bash = true;
  }
  command->arguments.front() = "/bin/sh";
  return answer_of(runner(*command, timeout), timeout);
}

ToolOutput exec(const ShellPlace& place, const Runner& runner, const Json& arguments) {
  Command wanted{.arguments = {arguments.at("program").get<std::string>()}};
  if (wanted.arguments.front().empty()) return refusal("the program is empty");
  if (const auto words = arguments.find("arguments"); words != arguments.end())
    for (const Json& word : *words) wanted.arguments.push_back(word.get<std::string>());
  const Result<Command> command = prepared(place, std::move(wanted), arguments);
  if (!command) return refusal(command.error());
  const std::chrono::milliseconds timeout = timeout_of(place, arguments);
  return answer_of(runner(*command, timeout), timeout);
}

}  // namespace coop::tools
