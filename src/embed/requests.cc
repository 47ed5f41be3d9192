#include "embed/requests.h"

#include <array>
#include <cmath>
#include <span>

#include "base/nearest.h"
#include "base/path.h"
#include "cli/options_policy.h"
#include "policy/json_document.h"

namespace coop::embed {

namespace {

using tools::Json;

constexpr double kLongestTimeout = 1e9;  // seconds

Result<Json> parse_object(std::string_view text, std::string_view name,
                          std::span<const std::string_view> keys) {
  Json json = tools::parse_json(text);
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
  if (!json.contains("policy")) return policy::Settings{};
  const policy::Table table = TRY(policy::parse_json_document(json.at("policy").dump(), "policy"));
  const HostFacts facts = TRY(cli::surroundings());
  const policy::Source source{.file = "policy",
                              .scope = policy::Scope::program,
                              .shape = policy::Shape::config,
                              .surroundings = cli::surroundings_of(facts, facts.working_directory)};
  policy::Findings findings;
  policy::Settings settings = policy::read_settings(table, source, findings);
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  return settings;
}

Result<void> read_command(const Json& json, Command& command) {
  if (!json.contains("command")) return invalid("command", "is missing");
  const Json& value = json.at("command");
  if (value.is_string()) {
    const std::string text = TRY(text_at(json, "command"));
    command.arguments = {"/bin/sh", "-c", text};
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
  const policy::Settings added = TRY(settings_at(json));
  const auto mode = added.find(policy::Key::mode);
  if (mode != added.end() && mode->second.value == policy::Scalar(std::string("disabled")))
    return invalid("policy", "exec always runs in a sandbox; mode \"disabled\" is for tools");
  cli::Request read = TRY(cli::read_request({}, cli::Purpose::command, added));
  request.policy = std::move(read.policy);
  return request;
}

Result<SessionRequest> read_session_request(std::string_view text) {
  constexpr std::array<std::string_view, 8> kKeys{"workspace", "policy", "on_leak", "config",
                                                  "agent",     "as",     "channel", "group"};
  const Json json = TRY(parse_object(text, "session", kKeys));
  SessionRequest request;
  for (const char* key : {"workspace", "config", "agent", "as", "channel"}) {
    if (!json.contains(key)) continue;
    const std::string value = TRY(text_at(json, key));
    request.flags.push_back("--" + std::string(key) + "=" + value);
  }
  if (json.contains("group")) {
    if (!json.at("group").is_boolean()) return invalid("group", "must be true or false");
    if (json.at("group").get<bool>()) request.flags.emplace_back("--group");
  }
  if (json.contains("on_leak")) {
    const std::string word = TRY(text_at(json, "on_leak"));
    request.on_leak = TRY(parse_on_leak(word));
  }
  request.added = TRY(settings_at(json));
  return request;
}

}  // namespace coop::embed
