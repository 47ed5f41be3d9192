#include "capi/requests.h"

#include <array>
#include <cmath>
#include <span>

#include "base/nearest.h"
#include "base/path.h"
#include "request/resolve.h"

namespace coop::capi {

namespace {

constexpr double kLongestTimeout = 1e9;  // seconds

Result<Json> parse_object(std::string_view text, std::string_view name,
                          std::span<const std::string_view> keys) {
  Json json = parse_json(text);
  if (json.is_discarded()) return invalid(name, "this is not JSON");
  if (!json.is_object()) return invalid(name, "an object is expected");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const std::string_view near = nearest(key, keys);
    return invalid(name, "there is no key \"" + printable(key) + "\"",
                   near.empty() ? "" : "did you mean \"" + std::string(near) + "\"?");
  }
  return json;
}

Result<std::string> text_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_string()) return invalid(key, "must be a string");
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) return invalid(key, "has the character NUL in it");
  return text;
}

// The "policy" of a request.
Result<policy::Settings> settings_at(const Json& json) {
  return request::read_json_settings(json.contains("policy") ? json.at("policy").dump() : "");
}

Result<void> read_command(const Json& json, Command& command) {
  if (!json.contains("command")) return invalid("command", "is missing");
  const Json& value = json.at("command");
  if (value.is_string()) {
    const std::string text = TRY(text_at(json, "command"));
    command.arguments = {"/bin/sh", "-c", "--", text};
    return {};
  }
  if (!value.is_array() || value.empty())
    return invalid("command", "must be a shell command, or a list of a program and its arguments");
  for (const Json& word : value) {
    if (!word.is_string()) return invalid("command", "must be a list of strings");
    if (word.get_ref<const std::string&>().find('\0') != std::string::npos)
      return invalid("command", "has the character NUL in it");
    command.arguments.push_back(word.get<std::string>());
  }
  return {};
}

Result<void> read_environment(const Json& json, Command& command) {
  if (!json.contains("environment")) return {};
  const Json& values = json.at("environment");
  if (!values.is_object()) return invalid("environment", "must be an object of strings");
  for (const auto& [name, value] : values.items()) {
    if (!value.is_string())
      return invalid("environment", "\"" + printable(name) + "\" must be a string");
    command.environment[name] = value.get<std::string>();
  }
  return {};
}

Result<std::optional<std::chrono::milliseconds>> timeout_at(const Json& json) {
  if (!json.contains("timeout")) return std::nullopt;
  const Json& value = json.at("timeout");
  const double seconds = value.is_number() ? value.get<double>() : 0;
  if (!(seconds > 0) || seconds > kLongestTimeout)
    return invalid("timeout", "must be a number of seconds, more than 0");
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

}  // namespace

Result<ExecRequest> read_exec_request(std::string_view text) {
  constexpr std::array<std::string_view, 5> kKeys{"command", "environment", "directory", "timeout",
                                                  "policy"};
  const Json json = TRY(parse_object(text, "exec", kKeys));
  ExecRequest request;
  TRY(read_command(json, request.command));
  TRY(read_environment(json, request.command));
  if (json.contains("directory")) {
    const std::string directory = TRY(text_at(json, "directory"));
    request.command.directory = directory;
  }
  request.timeout = TRY(timeout_at(json));
  request::Wanted wanted;
  wanted.settings = TRY(settings_at(json));
  const auto mode = wanted.settings.find(policy::Key::mode);
  if (mode != wanted.settings.end() &&
      mode->second.value == policy::Scalar(std::string("disabled")))
    return invalid("policy", "exec always runs in a sandbox; mode \"disabled\" is for tools");
  request::Resolved resolved = TRY(request::resolve(wanted));
  request.policy = std::move(resolved.policy);
  return request;
}

Result<tools::ToolsRequest> read_tools_request(std::string_view text) {
  constexpr std::array<std::string_view, 8> kKeys{"workspace", "policy", "on_leak", "config",
                                                  "agent",     "as",     "channel", "group"};
  const Json json = TRY(parse_object(text, "tools", kKeys));
  tools::ToolsRequest request;
  Role& role = request.wanted.role;
  for (const auto& [key, field] :
       {std::pair("workspace", &request.wanted.workspace), std::pair("config", &role.config),
        std::pair("agent", &role.agent), std::pair("as", &role.user),
        std::pair("channel", &role.sender)}) {
    if (!json.contains(key)) continue;
    *field = TRY(text_at(json, key));
    if (field->empty()) return invalid(key, "is empty");
  }
  if (json.contains("group")) {
    if (!json.at("group").is_boolean()) return invalid("group", "must be true or false");
    if (json.at("group").get<bool>()) role.conversation = Conversation::group;
  }
  if (json.contains("on_leak")) {
    const std::string word = TRY(text_at(json, "on_leak"));
    request.on_leak = TRY(with_context("on_leak", tools::parse_on_leak(word)));
  }
  request.wanted.settings = TRY(settings_at(json));
  return request;
}

}  // namespace coop::capi
