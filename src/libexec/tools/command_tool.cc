#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/path.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/tool_help.h"
#include "libexec/tools/tools_options.h"
#include "sys/fd.h"

namespace coop::libexec {

namespace {

// Who the caller is decides; there need be no workspace.
Result<policy::TrustLevel> trust_of(const request::Wanted& wanted) {
  if (!wanted.role.any()) return tools::ToolboxOptions{}.trust;
  const HostFacts facts = TRY(request::surroundings());
  const std::unique_ptr<request::ActingAs> caller =
      TRY(request::act_as(facts, wanted.role, wanted.config));
  return caller->someone ? caller->principal.trust : tools::ToolboxOptions{}.trust;
}

std::string list_text(policy::TrustLevel trust) {
  std::string text;
  for (const tools::ToolInfo* tool : tools::tools_for(trust))
    text += std::string(tool->name) +
            std::string(14 - std::min<std::size_t>(tool->name.size(), 13), ' ') +
            std::string(tool->description) + "\n" + std::string(14, ' ') +
            "arguments: " + argument_names(*tool) + "\n";
  return text.empty() ? "this trust may use no tools\n" : text;
}

std::string_view ending_of(std::string_view outcome) {
  if (outcome == "timed_out") return "killed after its timeout";
  if (outcome == "out_of_memory") return "killed: out of memory";
  if (outcome == "violation") return "killed by the system call filter";
  return "";
}

// What coop has to say of a command, besides what that wrote.
std::string remarks_of(const Json& result) {
  std::string text;
  const Json none = Json::array();
  for (const Json& denial : result.value("denials", none)) {
    const std::string grant = denial.value("grant", "");
    text += "denied: " + denial.value("what", "") + " by " + denial.value("rule", "") +
            (grant.empty() ? "" : "; to allow: " + grant) + "\n";
  }
  for (const Json& moved : result.value("quarantined", none))
    text += "taken away: " + moved.value("path", "") + " (" + moved.value("rule", "") + ")\n";
  for (const Json& note : result.value("notes", none)) text += note.get<std::string>() + "\n";
  const std::string_view ending = ending_of(result.value("outcome", ""));
  if (!ending.empty()) text += std::string(ending) + "\n";
  if (!text.empty()) text.pop_back();
  return text;
}

// What a command wrote, kept apart; what coop has to say of it goes to standard error.
Result<int> print_plain(const tools::ToolOutput& output) {
  const Json& result = output.structured;
  const auto written = [&](std::string_view stream) {
    const auto found = result.find(stream);
    return found == result.end() ? std::string() : found->value("text", "");
  };
  if (!result.contains("stdout")) {  // no command has run
    if (output.failed) cli::print_note(output.text);
    else TRY(cli::print_all(output.text));
    return output.failed ? cli::kOwnFailure : 0;
  }
  TRY(cli::print_all(written("stdout")));
  TRY(write_all(STDERR_FILENO, written("stderr"), "standard error"));
  if (const std::string remarks = remarks_of(result); !remarks.empty()) cli::print_note(remarks);
  return result.value("exit_code", cli::kOwnFailure);
}

}  // namespace

Result<int> command_tool(const cli::Parsed& flags) {
  if (flags.arguments.empty() && !flags.has("--list"))
    return invalid("tool", "no tool is named", "coop tool NAME '{…}', or coop tool --list");
  ToolsOptions options = TRY(tools_options(flags));
  if (flags.has("--list")) {
    const policy::TrustLevel trust = TRY(trust_of(options.request.wanted));
    TRY(cli::print_all(list_text(trust)));
    return 0;
  }
  options.request.calls = tools::Calls::one;
  const tools::ToolInfo* tool = tools::find_tool(flags.arguments.front());
  if (tool != nullptr) options.request.first = tool->reach;
  const tools::OpenedTools opened = TRY(tools::open_tools(options.request));
  const Json call = flags.arguments.size() < 2 ? Json::object() : parse_json(flags.arguments[1]);
  if (call.is_discarded())
    return invalid("tool",
                   "the arguments are not JSON: " + printable(flags.arguments[1].substr(0, 80)),
                   "write them like '" + (tool == nullptr ? "{…}" : example_of(*tool)) + "'");
  const tools::ToolOutput output = opened.toolbox->call(flags.arguments[0], call);
  if (flags.has("--plain")) return print_plain(output);
  if (flags.has("--json")) {
    const Json json{
        {"text", output.text}, {"structured", output.structured}, {"failed", output.failed}};
    TRY(cli::print_all(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  } else {
    const std::string end = output.text.empty() || output.text.ends_with('\n') ? "" : "\n";
    TRY(cli::print_all(output.text + end));
  }
  return output.failed ? 1 : 0;
}

}  // namespace coop::libexec
