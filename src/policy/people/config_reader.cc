#include "policy/people/config_reader.h"

#include <algorithm>
#include <ranges>

#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostTables = 10000;
constexpr std::size_t kMostFindings = 1000;
constexpr std::size_t kMostName = 200;
constexpr int kMostSuggestions = 10;

// A near miss: within two edits, and fewer than the length of the shorter word.
std::string_view mistyped(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known, 2);
  if (near.empty() || edit_distance(word, near) >= near.size()) return {};
  return near;
}

}  // namespace

ConfigReader::ConfigReader(const std::string& file, const Surroundings& surroundings,
                           Findings& findings)
    : file_(file),
      config_{file, Scope::config, Shape::config, surroundings},
      override_{file, Scope::override, Shape::override, surroundings},
      findings_(findings) {}

// A hostile file may have an error in every byte. Keep a bounded number of findings, but never lose
// the fact that there is an error.
void ConfigReader::add(Finding finding) {
  if (findings_.size() >= kMostFindings &&
      (finding.severity != Severity::error || has_errors(findings_)))
    return;
  findings_.push_back(std::move(finding));
}

void ConfigReader::error(std::string_view check, const Position& at, std::string message,
                         std::string fix) {
  add({Severity::error, std::string(check), file_, at, std::move(message), std::move(fix)});
}

void ConfigReader::warning(std::string_view check, const Position& at, std::string message,
                           std::string fix) {
  add({Severity::warning, std::string(check), file_, at, std::move(message), std::move(fix)});
}

std::string ConfigReader::suggestion(std::string_view word, std::span<const std::string_view> among,
                                     std::string known) {
  if (suggestions_ >= kMostSuggestions) return known;
  ++suggestions_;
  const std::string_view near = nearest(word, among);
  return near.empty() ? known : "did you mean " + quote(near) + "?";
}

void ConfigReader::unknown_keys(const Table& table, std::span<const std::string_view> known,
                                std::string_view place) {
  for (const Entry& entry : table) {
    if (contains(known, entry.key)) continue;
    const std::string_view near = mistyped(entry.key, known);
    if (near.empty())
      warning("unknown_key", entry.at,
              quote(entry.key) + " " + std::string(place) + " is not coop's and is left alone");
    else
      error("unknown_key", entry.at, "unknown key " + quote(entry.key) + " " + std::string(place),
            "did you mean " + quote(near) + "?");
  }
}

const std::string* ConfigReader::string(const Node& value, std::string_view check,
                                        const std::string& what, std::string_view fix) {
  if (value.text() == nullptr)
    error(check, value.at, what + " must be a string, not " + type_name(value), std::string(fix));
  return value.text();
}

const std::string* ConfigReader::text(const Table& table, std::string_view key,
                                      std::string_view check, std::string_view place) {
  const Entry* entry = find(table, key);
  if (entry == nullptr) return nullptr;
  const Position& at = entry->value.at;
  const std::string what = std::string(key) + " " + std::string(place);
  const std::string* value = string(entry->value, check, what, std::string(key) + " = \"…\"");
  if (value == nullptr) return nullptr;
  if (value->find_first_not_of(" \t\r\n") == std::string::npos) {
    error(check, at, what + " is empty", "give it a value or leave it out");
  } else if (value->size() > kMostName) {
    error(check, at, what + " is longer than " + std::to_string(kMostName) + " bytes");
  } else if (has_control(*value)) {
    error(check, at, what + " has a control character in it: " + quote(*value));
  } else {
    return value;
  }
  return nullptr;
}

const std::string* ConfigReader::required_text(const Node& entry, std::string_view key,
                                               std::string_view check, std::string_view place) {
  const Table& table = *entry.table();
  if (find(table, key) == nullptr)
    error(check, entry.at, "there is no " + std::string(key) + " " + std::string(place),
          "add " + std::string(key) + " = \"…\"");
  return text(table, key, check, place);
}

std::vector<const Node*> ConfigReader::tables(const Table& document, std::string_view key,
                                              std::string_view check) {
  std::vector<const Node*> found;
  const Entry* entry = find(document, key);
  if (entry == nullptr) return found;
  const std::string heading = "[[" + std::string(key) + "]]";
  const List* list = entry->value.list();
  if (list == nullptr) {
    error(check, entry->at,
          std::string(key) + " must be a list of tables, not " + type_name(entry->value),
          "write " + heading + " before each one");
    return found;
  }
  if (list->size() > kMostTables)
    error(check, entry->at, "more than " + std::to_string(kMostTables) + " " + heading);
  for (const Node& node : *list | std::views::take(kMostTables)) {
    if (node.table() != nullptr) found.push_back(&node);
    else
      error(check, node.at,
            std::string(key) + " must be a list of tables, and this is " + type_name(node),
            "write " + heading + " before each one");
  }
  return found;
}

Settings ConfigReader::sandbox(const Table& owner, Shape shape, std::string_view place) {
  const Entry* entry = find(owner, "sandbox");
  if (entry == nullptr) return {};
  if (const Table* table = entry->value.table())
    return read_settings(*table, shape == Shape::override ? override_ : config_, findings_);
  error(shape == Shape::override ? "sandbox_overrides" : "sandbox_settings", entry->value.at,
        "sandbox " + std::string(place) + " must be a table, not " + type_name(entry->value),
        "sandbox = { … }, or a [sandbox] table");
  return {};
}

void SeenNames::add(ConfigReader& reader, std::string_view check, std::string_view what,
                    const std::string& name, const Position& at) {
  const auto [before, added] = seen_.try_emplace(name, at);
  if (added) return;
  reader.error(check, at,
               "another " + std::string(what) + " is called " + quote(name) + " (" +
                   reader.line_of(before->second) + ")",
               "give each " + std::string(what) + " a name of its own");
}

}  // namespace coop::policy
