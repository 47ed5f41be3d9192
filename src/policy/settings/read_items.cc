#include "policy/settings/read_items.h"

#include <algorithm>

#include "base/text.h"
#include "policy/builtin.h"
#include "policy/destinations/host_groups.h"
#include "policy/destinations/port_rule.h"
#include "policy/quoted.h"
#include "policy/settings/expand.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostVariables = 1000;

Result<void> check_variable_name(std::string_view name) {
  const auto first = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto later = [&](char c) { return first(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && first(name.front()) && std::ranges::all_of(name, later)) return {};
  return bad_value(quote(name) + " is not the name of a variable",
                   "use letters, digits and \"_\", and no digit in front");
}

// "CI_*": a name of a variable in which any letters may be left out.
Result<void> check_variable_pattern(std::string_view pattern) {
  std::string name(pattern);
  std::ranges::replace(name, '*', '_');
  if (check_variable_name(name)) return {};
  return bad_value(quote(pattern) + " is not the name of a variable",
                   "use letters, digits, \"_\", and \"*\" for any of them");
}

Result<void> check_name(const KeyInfo& key, std::string_view name) {
  if (key.key == Key::env_pass || key.key == Key::env_unsafe) return check_variable_name(name);
  if (key.key == Key::env_names) return check_variable_pattern(name);
  std::vector<std::string_view> known =
      key.key == Key::cache_volumes || key.key == Key::share_caches ? cache_names()
                                                                    : split_words(key.words);
  if (key.key == Key::allow_guarded)
    for (const NamedReason& guard : guards()) known.push_back(guard.name);
  if (contains(known, name)) return {};
  return bad_value(quote(name) + " is unknown",
                   key.key == Key::allow_guarded ? similar_guards(name) : suggestion(name, known));
}

Result<Item> read_path_item(const std::string& text, const Surroundings& surroundings) {
  ExpandedPath expanded = TRY(expand_path(text, surroundings));
  Item item{.text = text,
            .path = std::move(expanded.path),
            .pattern = expanded.pattern,
            .if_missing = expanded.if_missing};
  if (item.if_missing) item.text.pop_back();
  return item;
}

// One socket by its path: no wildcards, and it must exist.
Result<Item> read_socket(const std::string& text, const Surroundings& surroundings) {
  Path path = TRY(expand_plain_path(text, surroundings));
  return Item{.text = text, .path = std::move(path)};
}

// Normalised, so that equal ports compare equal.
Result<Item> read_port(const KeyInfo& key, const std::string& text) {
  if (is_group(text))
    return bad_value(quote(text) + " is a group of hosts, and a port is expected",
                     key.key == Key::network_host_ports ? "write a port like 5432"
                                                        : "write ports like 8080 or 8080:80");
  if (key.key == Key::network_host_ports) {
    const std::uint16_t port = TRY(parse_port(text));
    return Item{.text = std::to_string(port), .port = port};
  }
  PublishedPort published = TRY(parse_published(text));
  return Item{.text = to_text(published), .published = std::move(published)};
}

// A port may be written as a number.
std::optional<std::string> text_of(const KeyInfo& key, const Node& node) {
  if (const std::string* text = node.text()) return *text;
  const std::int64_t* number = node.integer();
  if (key.type != KeyType::ports || number == nullptr) return std::nullopt;
  return std::to_string(*number);
}

// One host, or those of a group: from here on they are hosts like others, with the group in their origin.
Result<std::vector<Item>> read_hosts(const KeyInfo& key, const std::string& text) {
  const bool udp = key.key == Key::network_udp;
  if (udp || !is_group(text)) {
    Destination host = TRY(udp ? parse_udp_destination(text) : parse_destination(text));
    return std::vector{Item{.text = to_text(host), .destination = std::move(host)}};
  }
  HostGroup group = TRY(parse_group(text, portless(key.key)));
  std::vector<Item> items;
  for (Destination& host : group.hosts)
    items.push_back({.text = to_text(host),
                     .destination = std::move(host),
                     .origin = in_group({}, group.text)});
  return items;
}

Result<std::vector<Item>> read_variable(const Entry& entry) {
  TRY(check_variable_name(entry.key));
  const std::string* value = entry.value.text();
  if (value == nullptr)
    return bad_value(quote(entry.key) + ": expected a string, found " + type_name(entry.value),
                     "write the value in quotes");
  if (value->find('\0') != std::string::npos)
    return bad_value(quote(entry.key) + " has a NUL character in its value");
  return std::vector{Item{.text = entry.key, .value = *value}};
}

Result<Item> read_single(const KeyInfo& key, const std::string& text,
                         const Surroundings& surroundings) {
  if (key.key == Key::sockets) return read_socket(text, surroundings);
  if (key.type == KeyType::ports) return read_port(key, text);
  if (key.type == KeyType::paths) return read_path_item(text, surroundings);
  TRY(check_name(key, text));
  return Item{.text = text};
}

// Adds the items that were read at `at`, or reports the mistake in them.
void add_items(Setting& setting, Result<std::vector<Item>> items, const Position& at,
               const Position& mistake, const KeyInfo& key, std::string_view name,
               Reporter& reporter) {
  if (!items)
    return reporter.error(key.check, mistake, std::string(name) + ": " + items.error().subject,
                          items.error().hint);
  for (Item& item : *items)
    setting.items.push_back(written_at(std::move(item), reporter.origin(at)));
}

// An error in a name is at the key, an error in a value at the value.
Position place_of_mistake(const Entry& entry) {
  return check_variable_name(entry.key) ? entry.value.at : entry.at;
}

std::optional<Setting> read_map(const KeyInfo& key, std::string_view name, const Entry& entry,
                                Reporter& reporter) {
  const Table* table = entry.value.table();
  if (table == nullptr) {
    report_type(key, name, expected_of(key), entry.value, example_of(key, name), reporter);
    return std::nullopt;
  }
  if (table->size() > kMostVariables) {
    reporter.error(key.check, entry.value.at,
                   std::string(name) + ": " + std::to_string(table->size()) +
                       " variables, at most 1000 are possible",
                   "set fewer");
    return std::nullopt;
  }
  Setting setting{.origin = reporter.origin(entry.at)};
  for (const Entry& variable : *table)
    add_items(setting, read_variable(variable), variable.at, place_of_mistake(variable), key, name,
              reporter);
  return setting;
}

}  // namespace

Result<std::vector<Item>> read_item(const KeyInfo& key, const std::string& text,
                                    const Surroundings& surroundings) {
  if (key.type == KeyType::hosts) return read_hosts(key, text);
  Item item = TRY(read_single(key, text, surroundings));
  return std::vector{std::move(item)};
}

Item written_at(Item item, const Origin& place) {
  item.origin = in_group(place, group_of(item.origin));
  return item;
}

std::optional<Setting> read_items(const KeyInfo& key, std::string_view name, const Entry& entry,
                                  Reporter& reporter) {
  if (key.type == KeyType::map) return read_map(key, name, entry, reporter);
  const List* list = read_list(key, name, entry, expected_of(key), reporter);
  if (list == nullptr) return std::nullopt;
  Setting setting{.origin = reporter.origin(entry.at)};
  setting.items.reserve(list->size());
  for (const Node& node : *list) {
    const std::optional<std::string> text = text_of(key, node);
    if (!text) {
      report_type(key, name,
                  key.type == KeyType::ports ? "ports in the list" : "strings in the list", node,
                  std::string(kListFix), reporter);
      continue;
    }
    add_items(setting, read_item(key, *text, reporter.source().surroundings), node.at, node.at, key,
              name, reporter);
  }
  return setting;
}

}  // namespace coop::policy
