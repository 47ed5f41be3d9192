#include "policy/settings/read_items.h"

#include <algorithm>

#include "policy/builtin.h"
#include "policy/destinations/port_rule.h"
#include "policy/quoted.h"
#include "policy/settings/expand.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostVariables = 1000;

std::unexpected<Error> bad_item(std::string_view message, std::string_view fix = {}) {
  return invalid("item", message, fix);
}

Result<void> check_variable_name(std::string_view name) {
  const auto first = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto later = [&](char c) { return first(c) || (c >= '0' && c <= '9'); };
  if (!name.empty() && first(name.front()) && std::ranges::all_of(name, later)) return {};
  return bad_item(quoted(name) + " is not the name of a variable",
                  "use letters, digits and \"_\", and no digit in front");
}

std::vector<std::string_view> cache_names() {
  std::vector<std::string_view> names;
  for (const CacheEntry& cache : caches())
    if (std::ranges::find(names, cache.name) == names.end()) names.push_back(cache.name);
  return names;
}

Result<void> check_name(const KeyInfo& key, std::string_view name) {
  if (key.key == Key::env_pass || key.key == Key::env_unsafe) return check_variable_name(name);
  const std::vector<std::string_view> known =
      key.key == Key::cache_volumes ? cache_names() : split_words(key.words);
  if (std::ranges::find(known, name) != known.end()) return {};
  return bad_item(quoted(name) + " is unknown", suggestion(name, known));
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
  if (key.key == Key::network_host_ports) {
    const std::uint16_t port = TRY(parse_port(text));
    return Item{.text = std::to_string(port)};
  }
  const PublishedPort published = TRY(parse_published(text));
  return Item{.text = to_text(published)};
}

Result<Item> read_item(const KeyInfo& key, const std::string& text,
                       const Surroundings& surroundings) {
  if (key.key == Key::sockets) return read_socket(text, surroundings);
  if (key.type == KeyType::ports) return read_port(key, text);
  if (key.type == KeyType::paths) return read_path_item(text, surroundings);
  if (key.type == KeyType::hosts) {
    const bool udp = key.key == Key::network_udp;
    Destination host = TRY(udp ? parse_udp_destination(text) : parse_destination(text));
    return Item{.text = to_text(host), .destination = std::move(host)};
  }
  TRY(check_name(key, text));
  return Item{.text = text};
}

// A port may be written as a number.
std::optional<std::string> text_of(const KeyInfo& key, const Node& node) {
  if (const std::string* text = node.text()) return *text;
  const std::int64_t* number = node.integer();
  if (key.type != KeyType::ports || number == nullptr) return std::nullopt;
  return std::to_string(*number);
}

std::string_view expected_item(const KeyInfo& key) {
  return key.type == KeyType::ports ? "ports in the list" : "strings in the list";
}

Result<Item> read_variable(const Entry& entry) {
  TRY(check_variable_name(entry.key));
  const std::string* value = entry.value.text();
  if (value == nullptr)
    return bad_item(
        quoted(entry.key) + ": expected a string, found " + std::string(type_name(entry.value)),
        "write the value in quotes");
  if (value->find('\0') != std::string::npos)
    return bad_item(quoted(entry.key) + " has a NUL character in its value");
  return Item{.text = entry.key, .value = *value};
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
  for (const Entry& variable : *table) {
    Result<Item> item = read_variable(variable);
    if (!item) {
      reporter.error(key.check, place_of_mistake(variable),
                     std::string(name) + ": " + item.error().subject, item.error().hint);
      continue;
    }
    item->origin = reporter.origin(variable.at);
    setting.items.push_back(*std::move(item));
  }
  return setting;
}

}  // namespace

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
      report_type(key, name, expected_item(key), node, std::string(kListFix), reporter);
      continue;
    }
    Result<Item> item = read_item(key, *text, reporter.source().surroundings);
    if (!item) {
      reporter.error(key.check, node.at, std::string(name) + ": " + item.error().subject,
                     item.error().hint);
      continue;
    }
    item->origin = reporter.origin(node.at);
    setting.items.push_back(*std::move(item));
  }
  return setting;
}

}  // namespace coop::policy
