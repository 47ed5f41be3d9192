#include "report/settings.h"

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/path.h"
#include "policy/merge/compare.h"
#include "report/text.h"

namespace coop::report {

namespace {

using Json = nlohmann::ordered_json;
using policy::Item;
using policy::Key;
using policy::KeyInfo;
using policy::Setting;

constexpr std::size_t kCommentColumn = 36;

std::string line(std::string text, const Origin& origin, Origins origins) {
  if (origins == Origins::left_out) return text + "\n";
  text.resize(std::max(text.size() + 1, kCommentColumn), ' ');
  return text + "# " + to_text(origin) + "\n";
}

std::string list_text(const KeyInfo& info, std::string_view key, const Setting& written,
                      Origins origins) {
  const Setting setting = without_secrets(info.key, written);
  const std::string name(key);
  if (origins == Origins::left_out || setting.items.empty() || info.key == Key::env_set)
    return line(name + " = " + value_text(info.key, setting), setting.origin, origins);
  std::string text = name + " = [\n";
  for (const policy::Written& one : policy::as_written(info.key, setting.items))
    text += line("  " + one.text + ",", one.items.front().origin, origins);
  return text + "]\n";
}

// As TOML: words and sizes are quoted, numbers, booleans and lists are not.
std::string initial_text(const KeyInfo& info) {
  const std::string text(info.initial.text);
  if (is_list(info.key)) return info.key == Key::env_set ? "{}" : "[]";
  const bool bare = info.type == policy::KeyType::boolean ||
                    info.type == policy::KeyType::seconds ||
                    (info.type == policy::KeyType::count && text != "unlimited");
  return bare ? text : "\"" + text + "\"";
}

Json scalar_json(const policy::Scalar& value) {
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean;
  if (const std::uint64_t* number = std::get_if<std::uint64_t>(&value)) return *number;
  if (std::holds_alternative<policy::Unlimited>(value)) return "unlimited";
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

Json items_json(const Setting& setting) {
  Json items = Json::array();
  for (const Item& item : setting.items) {
    Json entry{{"text", item.text}};
    if (!item.path.empty()) entry["path"] = item.path;
    if (!item.value.empty()) entry["value"] = item.value;
    entry["origin"] = origin_json(item.origin);
    items.push_back(std::move(entry));
  }
  return items;
}

// An empty list of the organisation's would refuse everything; without one nothing is bounded. An empty image is none.
bool has_default(Key key) {
  return key != Key::workspace && key != Key::base_image && !policy::is_of_organisation(key);
}

using KeyRow = std::pair<const KeyInfo*, const Setting*>;  // no setting: the default

std::string key_text(const KeyRow& row, std::string_view name, Origins origins) {
  const auto& [info, setting] = row;
  if (setting == nullptr)
    return line(std::string(name) + " = " + initial_text(*info), Origin::of_coop(), origins);
  if (is_list(info->key)) return list_text(*info, name, *setting, origins);
  return line(std::string(name) + " = " + value_text(info->key, *setting), setting->origin,
              origins);
}

// require = […] or best_effort = […], in which files write the mechanisms.
std::string mechanisms_text(std::span<const KeyRow> rows, std::string_view list,
                            std::string_view need, Origins origins) {
  std::string items;
  for (const auto& [info, setting] : rows) {
    const std::string quoted = "\"" + std::string(need) + "\"";
    const std::string value = setting ? value_text(info->key, *setting) : initial_text(*info);
    if (!policy::is_mechanism(info->key) || value != quoted) continue;
    const std::string name = "\"" + std::string(info->name) + "\"";
    if (origins == Origins::left_out) items += (items.empty() ? "" : ", ") + name;
    else items += line("  " + name + ",", setting ? setting->origin : Origin::of_coop(), origins);
  }
  if (items.empty()) return {};
  const std::string_view edge = origins == Origins::left_out ? "" : "\n";
  return std::string(list) + " = [" + std::string(edge) + items + "]\n";
}

std::vector<KeyRow> key_rows(const policy::Settings& settings, Defaults defaults) {
  std::vector<KeyRow> rows;
  for (const KeyInfo& info : policy::keys()) {
    const Setting* setting = policy::find(settings, info.key);
    if (setting != nullptr || (defaults == Defaults::shown && has_default(info.key)))
      rows.emplace_back(&info, setting);
  }
  return rows;
}

}  // namespace

std::string settings_text(const policy::Settings& settings, Origins origins, Defaults defaults) {
  const std::vector<KeyRow> rows = key_rows(settings, defaults);
  std::string text = "[sandbox]\n";
  std::string network;
  std::string environment;
  for (const KeyRow& row : rows) {
    const KeyInfo& info = *row.first;
    if (info.key == Key::network) network += key_text(row, "mode", origins);
    else if (info.table() == "network") network += key_text(row, info.name_in_table(), origins);
    else if (info.table() == "env") environment += key_text(row, info.name_in_table(), origins);
    else if (!policy::is_mechanism(info.key)) text += key_text(row, info.name, origins);
  }
  text += mechanisms_text(rows, "require", "required", origins);
  text += mechanisms_text(rows, "best_effort", "best_effort", origins);
  if (!network.empty()) text += "\n[sandbox.network]\n" + network;
  if (!environment.empty()) text += "\n[sandbox.env]\n" + environment;
  return text;
}

Json origin_json(const Origin& origin) {
  Json json{{"scope", to_text(origin.scope)}};
  if (!origin.flag.empty()) json["file"] = origin.flag;
  else if (!origin.file.empty()) json["file"] = origin.file;
  if (origin.at.line > 0) json["line"] = origin.at.line;
  if (origin.at.column > 0) json["column"] = origin.at.column;
  if (origin.part == Part::host_group) json["group"] = origin.name;
  return json;
}

Json settings_json(const policy::Settings& settings, Defaults defaults) {
  Json json = Json::object();
  for (const KeyInfo& info : policy::keys()) {
    const auto found = settings.find(info.key);
    const bool built_in = found == settings.end();
    if (built_in && (defaults == Defaults::left_out || !has_default(info.key))) continue;
    const Setting setting =
        built_in ? Setting{.origin = Origin::of_coop()} : without_secrets(info.key, found->second);
    Json entry = Json::object();
    if (is_list(info.key)) entry["items"] = items_json(setting);
    else entry["value"] = scalar_json(built_in ? policy::built_in(info.key) : setting.value);
    entry["text"] = built_in ? initial_text(info) : value_text(info.key, setting);
    entry["origin"] = origin_json(setting.origin);
    json[std::string(info.name)] = std::move(entry);
  }
  return json;
}

Json refusals_json(const std::vector<policy::Refusal>& refusals) {
  Json list = Json::array();
  for (const policy::Refusal& refusal : refusals)
    list.push_back(
        {{"key", policy::info(refusal.key).name},
         {"asked", refusal.asked},
         {"limit", refusal.limit},
         {"why", refusal.why == policy::Refusal::Why::not_approved ? "not_approved"
                                                                   : "beyond_organisation"},
         {"origin", origin_json(refusal.origin)},
         {"limit_origin", origin_json(refusal.limit_origin)},
         {"text", to_text(refusal)}});
  return list;
}

Json findings_json(const policy::Findings& findings) {
  Json list = Json::array();
  for (const policy::Finding& finding : findings)
    list.push_back({{"check", finding.check},
                    {"severity", to_text(finding.severity)},
                    {"file", finding.file},
                    {"line", finding.at.line},
                    {"column", finding.at.column},
                    {"message", finding.message},
                    {"fix", finding.fix}});
  return list;
}

}  // namespace coop::report
