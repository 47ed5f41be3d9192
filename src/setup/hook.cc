#include "setup/hook.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "setup/client.h"

namespace coop::setup {

namespace {

// Linux takes 128 KiB as one argument of a program.
constexpr std::size_t kLongestCommand = std::size_t{120} << 10;
constexpr std::int64_t kLongestTime = 3600;  // seconds, of the tool
constexpr std::string_view kReason = "coop runs it in a sandbox";

const std::string* text_in(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

// Claude Code gives milliseconds, and waits longer for what runs in the background.
void add_timeout(Json& arguments, const Json& call) {
  const auto background = call.find("run_in_background");
  const auto timeout = call.find("timeout");
  if (background != call.end() && *background == true) arguments["timeout"] = kLongestTime;
  else if (timeout != call.end() && timeout->is_number_integer())
    arguments["timeout"] =
        (std::clamp<std::int64_t>(timeout->get<std::int64_t>(), 1, kLongestTime * 1000) + 999) /
        1000;
}

}  // namespace

Result<std::string> claude_hook(std::string_view input, std::string_view program) {
  const Json event = parse_json(input);
  if (!event.is_object()) return invalid("hook claude", "the input is not a JSON object");
  const std::string* kind = text_in(event, "hook_event_name");
  const std::string* tool = text_in(event, "tool_name");
  if (kind == nullptr || *kind != "PreToolUse" || tool == nullptr || *tool != "Bash")
    return invalid("hook claude", "it is for PreToolUse of Bash alone");
  const auto call = event.find("tool_input");
  const std::string* command =
      call == event.end() || !call->is_object() ? nullptr : text_in(*call, "command");
  if (command == nullptr) return invalid("hook claude", "the call has no command");
  Json arguments{{"command", *command}};
  add_timeout(arguments, *call);
  const std::string words = shell_quoted(arguments.dump());
  if (words.size() > kLongestCommand)
    return invalid("hook claude", "the command is too long",
                   "write it into a file of the project, and run that");
  Json changed = *call;
  // The agent's file tools name files as the host does: in the host view the workspace has its usual place.
  changed["command"] = shell_quoted(program) + " tool bash --plain --view host " + words;
  // A plan is made without changing anything; the sandbox can write to the workspace.
  const std::string* mode = text_in(event, "permission_mode");
  const bool is_planning = mode != nullptr && *mode == "plan";
  const Json answer{{"hookSpecificOutput",
                     {{"hookEventName", "PreToolUse"},
                      {"permissionDecision", is_planning ? "ask" : "allow"},
                      {"permissionDecisionReason", kReason},
                      {"updatedInput", std::move(changed)}}}};
  return answer.dump() + "\n";
}

}  // namespace coop::setup
