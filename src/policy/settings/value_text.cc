#include <algorithm>
#include <chrono>

#include "base/path.h"
#include "base/quantity.h"
#include "base/redact.h"
#include "policy/destinations/host_groups.h"
#include "policy/settings/settings.h"
#include "policy/settings/toml_text.h"

namespace coop::policy {

namespace {

// Exact, so that it reads back as the same number: "2g", else the number of bytes.
std::string size_text(std::uint64_t bytes) {
  struct Unit {
    int shift;
    char letter;
  };
  for (const Unit unit : {Unit{40, 't'}, Unit{30, 'g'}, Unit{20, 'm'}, Unit{10, 'k'}})
    if (bytes != 0 && bytes % (std::uint64_t{1} << unit.shift) == 0)
      return "\"" + std::to_string(bytes >> unit.shift) + unit.letter + "\"";
  return std::to_string(bytes);
}

std::string cpus_text(std::uint64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + milli % 1000).substr(1);
  while (decimals.ends_with('0')) decimals.pop_back();
  return text + "." + decimals;
}

std::string number_text(KeyType type, std::uint64_t value) {
  if (type == KeyType::size) return size_text(value);
  if (type == KeyType::cpus) return cpus_text(value);
  if (type == KeyType::duration)
    return toml_text(format_duration(std::chrono::milliseconds(value)));
  return std::to_string(value);
}

// Paths are stored with variables expanded; a dollar sign in one is literal and must be escaped.
std::string path_text(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '$' ? std::string("$$") : std::string(1, c);
  return toml_text(text);
}

struct ScalarText {
  KeyType type;

  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::uint64_t value) const { return number_text(type, value); }
  std::string operator()(Unlimited) const { return "\"unlimited\""; }
  std::string operator()(const std::string& value) const {
    if (type == KeyType::seconds) return value;
    return type == KeyType::path ? path_text(value) : toml_text(value);
  }
};

std::string list_text(Key key, const Setting& setting) {
  const bool map = info(key).type == KeyType::map;
  std::string text;
  for (const Written& written : as_written(key, setting.items))
    text += (text.empty() ? "" : ", ") + written.text;
  if (!map) return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

std::string line(std::string_view name, Key key, const Setting& setting) {
  constexpr std::size_t kLongest = 100;
  std::string value = value_text(key, setting);
  const bool breakable = is_list(key) && info(key).type != KeyType::map;
  if (breakable && name.size() + 3 + value.size() > kLongest) {
    value = "[\n";
    for (const Written& written : as_written(key, setting.items))
      value += "  " + written.text + ",\n";
    value += "]";
  }
  return value.empty() ? "" : std::string(name) + " = " + value + "\n";
}

// How many items at the front are the whole group of the first; 0 if they are not.
std::size_t group_length(Key key, std::span<const Item> items) {
  const Origin& origin = items.front().origin;
  if (group_of(origin).empty()) return 0;
  const Result<HostGroup> group = parse_group(group_of(origin), portless(key));
  if (!group || group->hosts.size() > items.size()) return 0;
  const bool whole = std::equal(group->hosts.begin(), group->hosts.end(), items.begin(),
                                [&](const Destination& host, const Item& item) {
                                  return item.destination == host && item.origin == origin;
                                });
  return whole ? group->hosts.size() : 0;
}

bool has_table(const Settings& settings, std::string_view table) {
  return std::ranges::any_of(settings,
                             [&](const auto& entry) { return info(entry.first).table() == table; });
}

// require = […] or best_effort = […]
std::string mechanisms(const Settings& settings, std::string_view list, std::string_view need) {
  std::string names;
  for (const auto& [key, setting] : settings)
    if (is_mechanism(key) && word_of(settings, key) == need)
      names += (names.empty() ? "" : ", ") + toml_text(info(key).name);
  return names.empty() ? "" : std::string(list) + " = [" + names + "]\n";
}

}  // namespace

std::string value_text(Key key, const Setting& setting) {
  if (is_list(key)) return list_text(key, setting);
  return std::visit(ScalarText{info(key).type}, setting.value);
}

std::string item_text(Key key, const Item& item) {
  const KeyType type = info(key).type;
  if (type == KeyType::map) return toml_key(item.text) + " = " + toml_text(item.value);
  if (type == KeyType::ports && !item.text.contains(':')) return item.text;
  return toml_text(item.text + (item.if_missing == Missing::skip ? "?" : ""));
}

std::vector<Written> as_written(Key key, std::span<const Item> items) {
  std::vector<Written> list;
  while (!items.empty()) {
    const std::size_t length = group_length(key, items);
    list.push_back({.text = length > 0 ? toml_text(group_of(items.front().origin))
                                       : item_text(key, items.front()),
                    .items = items.first(std::max<std::size_t>(length, 1))});
    items = items.subspan(list.back().items.size());
  }
  return list;
}

Setting without_secrets(Key key, Setting setting) {
  if (key == Key::env_set)
    for (Item& item : setting.items)
      if (names_a_secret(item.text)) item.value = "…";
  return setting;
}

std::string to_toml(const Settings& settings) {
  std::string text = "[sandbox]\n";
  for (const auto& [key, setting] : settings) {
    const bool in_network_table = key == Key::network && has_table(settings, "network");
    if (info(key).table().empty() && !is_mechanism(key) && !in_network_table)
      text += line(info(key).name, key, setting);
  }
  text += mechanisms(settings, "require", "required");
  text += mechanisms(settings, "best_effort", "best_effort");
  for (const std::string_view table : {"network", "env"}) {
    if (!has_table(settings, table)) continue;
    text += "\n[sandbox." + std::string(table) + "]\n";
    for (const auto& [key, setting] : settings) {
      if (info(key).table() == table) text += line(info(key).name_in_table(), key, setting);
      if (key == Key::network && table == "network") text += line("mode", key, setting);
    }
  }
  return text;
}

}  // namespace coop::policy
