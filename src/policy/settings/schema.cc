// The JSON Schema of policy files and coop.toml, generated from the key table.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/builtin.h"
#include "policy/settings/read_values.h"
#include "policy/settings/settings.h"

namespace coop::policy {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaximumItems = 1000;
constexpr std::int64_t kMaximumBytes = std::int64_t{1} << 62;
constexpr int kMostSeconds = 366 * 24 * 3600;
constexpr std::string_view kSize = R"([0-9]+(\.[0-9]{1,3})?[kKmMgGtT]?([iI]?[bB])?)";
constexpr std::string_view kDuration =
    R"(([0-9]+(\.[0-9]{1,3})?(ms|s|m|h))+|[0-9]+(\.[0-9]{1,3})?)";
constexpr std::string_view kVariable = "^[A-Za-z_][A-Za-z0-9_]*$";
constexpr std::string_view kVariables = "^[A-Za-z_*][A-Za-z0-9_*]*$";

Json pattern_of(const KeyInfo& key, std::string_view expression) {
  const std::string word = key.unlimited ? "unlimited|" : "";
  return {{"type", "string"}, {"pattern", "^(" + word + std::string(expression) + ")$"}};
}

Json either(Json first, Json second) {
  return {{"anyOf", Json::array({std::move(first), std::move(second)})}};
}

Json unlimited_or(Json other) { return either(std::move(other), {{"const", "unlimited"}}); }

Json list_of(Json items) {
  return {{"type", "array"}, {"maxItems", kMaximumItems}, {"items", std::move(items)}};
}

Json one_of(const std::vector<std::string_view>& words) {
  Json values = Json::array();
  for (const std::string_view word : words) values.push_back(word);
  return {{"enum", std::move(values)}};
}

Json integer(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

Json names_of(const KeyInfo& key) {
  if (key.key == Key::cache_volumes || key.key == Key::share_caches)
    return list_of(one_of(cache_names()));
  if (!key.words.empty()) return list_of(one_of(split_words(key.words)));
  if (key.key == Key::allow_guarded) return list_of({{"type", "string"}, {"minLength", 1}});
  return list_of(
      {{"type", "string"}, {"pattern", key.key == Key::env_names ? kVariables : kVariable}});
}

Json type_of(const KeyInfo& key) {
  const Json text{{"type", "string"}, {"minLength", 1}};
  switch (key.type) {
    case KeyType::word: return one_of(split_words(key.words));
    case KeyType::text:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9._/:@+][A-Za-z0-9._/:@+-]*$"}};
    case KeyType::hostname: return {{"type", "string"}, {"pattern", "^[A-Za-z0-9.-]{0,63}$"}};
    case KeyType::home:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}};
    case KeyType::seconds: return integer(-kMostOffset, kMostOffset);
    case KeyType::path: return text;
    case KeyType::size:
      return either(pattern_of(key, kSize),
                    integer(static_cast<std::int64_t>(key.least), kMaximumBytes));
    case KeyType::count:
      return unlimited_or(integer(static_cast<std::int64_t>(key.least),
                                  key.key == Key::open_files ? 1073741816 : 4194304));
    case KeyType::cpus:
      return either(pattern_of(key, R"([0-9]+(\.[0-9]{1,3})?)"),
                    {{"type", "number"}, {"minimum", 0.01}, {"maximum", 1000000}});
    case KeyType::duration: return either(pattern_of(key, kDuration), integer(1, kMostSeconds));
    case KeyType::boolean: return {{"type", "boolean"}};
    case KeyType::paths:
    case KeyType::hosts: return list_of(text);
    case KeyType::ports: return list_of(either(text, integer(1, 65535)));
    case KeyType::names: return names_of(key);
    case KeyType::map:
      return {{"type", "object"},
              {"maxProperties", kMaximumItems},
              {"propertyNames", {{"pattern", kVariable}}},
              {"additionalProperties", {{"type", "string"}}}};
  }
  return {};
}

Json described(const Json& schema, std::string_view text) {
  Json result{{"description", text}};
  result.update(schema);
  return result;
}

Json property(Key key) {
  const KeyInfo& row = info(key);
  return described(type_of(row), row.help);
}

Json closed_object(Json properties) {
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

// [sandbox.network] or [sandbox.env].
Json table_of(std::string_view table, Json properties = Json::object()) {
  for (const KeyInfo& key : keys())
    if (key.table() == table) properties[std::string(key.name_in_table())] = property(key.key);
  return closed_object(std::move(properties));
}

Json network(Shape shape) {
  const KeyInfo& row = info(Key::network);
  std::vector<std::string_view> words = split_words(row.words);
  if (shape != Shape::policy_file) words.emplace_back("bridge");
  const Json table = table_of("network", {{"mode", one_of(words)}});
  return described(either(one_of(words), table), row.help);
}

Json property(std::string_view name, Shape shape) {
  const Json mechanisms = list_of(one_of(mechanism_names()));
  const Json boolean{{"type", "boolean"}};
  if (name == "network") return network(shape);
  if (name == "env") return described(table_of("env"), "the variables inside");
  if (name == "require") return described(mechanisms, "mechanisms without which nothing starts");
  if (name == "best_effort")
    return described(mechanisms, "mechanisms to go on without, and say so");
  if (name == "enabled") return described(boolean, "mode, as older files say it");
  if (name == "allow_network")
    return described(boolean, shape == Shape::override
                                  ? "network \"full\" or \"none\""
                                  : "network \"full\" or \"none\", as older files say it");
  return property(std::ranges::find(keys(), meant_by(name), &KeyInfo::name)->key);
}

// In an override, an empty text overrides nothing.
Json overridable(Json schema) {
  const Json description = schema["description"];
  schema.erase("description");
  return {{"description", description},
          {"anyOf", Json::array({std::move(schema), {{"const", ""}}})}};
}

Json sandbox(Shape shape) {
  Json properties = Json::object();
  for (const std::string_view name : known_names(shape)) {
    const Json schema = property(name, shape);
    properties[std::string(name)] = shape == Shape::override ? overridable(schema) : schema;
  }
  return closed_object(std::move(properties));
}

Json reference(std::string_view name) { return {{"$ref", "#/$defs/" + std::string(name)}}; }

Json list_of_tables(std::string_view name) {
  return {{"type", "array"}, {"items", reference(name)}};
}

// A gateway may keep additional keys in the tables of coop.toml.
Json open_object(Json properties, Json required = Json::array()) {
  Json object{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) object["required"] = std::move(required);
  return object;
}

Json definitions() {
  const Json text{{"type", "string"}, {"minLength", 1}};
  const Json match = {{"type", "array"}, {"items", text}};
  const Json agent{
      {"id", text}, {"name", text}, {"workspace", text}, {"sandbox", reference("config_sandbox")}};
  Json defs;
  defs["sandbox"] = sandbox(Shape::policy_file);
  defs["config"] = described(open_object({{"agent", reference("agent")},
                                          {"agents", reference("agents")},
                                          {"sandbox", reference("config_sandbox")},
                                          {"users", reference("users")},
                                          {"cron", reference("cron")}}),
                             "coop.toml");
  defs["config_sandbox"] = sandbox(Shape::config);
  defs["agent"] = open_object(agent);
  defs["agents"] = {
      {"type", "array"},
      {"items", {{"allOf", Json::array({reference("agent"), {{"required", {"id"}}}})}}}};
  defs["user"] = open_object({{"name", text},
                              {"trust", one_of({"owner", "full", "inner", "familiar", "public"})},
                              {"match", match},
                              {"sandbox", reference("overrides")}},
                             {"name", "trust"});
  defs["users"] = list_of_tables("user");
  defs["cron_job"] = open_object({{"name", text},
                                  {"cron", text},
                                  {"user", text},
                                  {"message", text},
                                  {"command", text},
                                  {"sandbox", reference("overrides")}},
                                 {"name", "cron"});
  defs["cron"] = list_of_tables("cron_job");
  defs["overrides"] = sandbox(Shape::override);
  return defs;
}

}  // namespace

std::string policy_schema() {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "coop policy";
  schema["description"] =
      "a policy file of coop; #/$defs/config is coop.toml, with the same [sandbox] table";
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  schema["properties"] = {{"sandbox", reference("sandbox")}};
  schema["$defs"] = definitions();
  return schema.dump(2) + "\n";
}

}  // namespace coop::policy
