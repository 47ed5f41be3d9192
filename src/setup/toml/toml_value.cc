#include "setup/toml/toml_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

namespace coop::setup {

namespace {

struct ToJson {
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(const policy::Table& value) const { return json_of(value); }
  Json operator()(const policy::Foreign&) const { return nullptr; }
  Json operator()(const policy::List& value) const {
    Json list = Json::array();
    for (const policy::Node& item : value) list.push_back(json_of(item));
    return list;
  }
};

bool is_bare(std::string_view key) {
  return !key.empty() && key.find_first_not_of(
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                             "0123456789_-") == std::string_view::npos;
}

// A basic string of TOML escapes what a JSON string does; JSON's \u007f is left out, so DEL is added.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '\x7f') result += "\\u007f";
    else result += c;
  return result;
}

}  // namespace

Json json_of(const policy::Node& node) { return std::visit(ToJson{}, node.value); }

Json json_of(const policy::Table& table) {
  Json json = Json::object();
  for (const policy::Entry& entry : table) json[entry.key] = json_of(entry.value);
  return json;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return quoted(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + value_text(item);
  return "[" + text + "]";
}

std::string key_text(std::span<const std::string> path) {
  std::string text;
  for (const std::string& key : path)
    text += (text.empty() ? "" : ".") + (is_bare(key) ? key : quoted(key));
  return text;
}

bool is_alike(const Json& one, const Json& other) {
  if (one.is_array() && other.is_array()) return std::ranges::equal(one, other, is_alike);
  if (!one.is_object() || !other.is_object()) return one == other;
  return one.size() == other.size() && std::ranges::all_of(one.items(), [&](const auto& item) {
           return other.contains(item.key()) && is_alike(item.value(), other.at(item.key()));
         });
}

}  // namespace coop::setup
