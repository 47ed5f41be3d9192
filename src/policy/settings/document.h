// TOML as a tree with positions. Only document.cc includes the TOML library.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "coop/origin.h"
#include "policy/settings/findings.h"

namespace coop::policy {

struct Entry;
struct Node;
using Table = std::vector<Entry>;  // in the order written
using List = std::vector<Node>;

// A date, a time, inf or nan: coop's settings have none, a gateway's in the same file may.
struct Foreign {
  bool operator==(const Foreign&) const = default;
};

struct Node {
  Position at{};
  // No {}: Clang would want Entry complete here.
  std::variant<bool, std::int64_t, double, std::string, List, Table, Foreign> value;

  const bool* boolean() const { return std::get_if<bool>(&value); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  const double* number() const { return std::get_if<double>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
  const Table* table() const { return std::get_if<Table>(&value); }
  bool operator==(const Node&) const;
};

struct Entry {
  std::string key{};
  Position at{};  // of the key
  Node value{};
  bool operator==(const Entry&) const;
};

// "a string", "a whole number", "a list", …: for messages.
std::string type_name(const Node& node);

// The entry called `key`; null when there is none.
const Entry* find(const Table& table, std::string_view key);

// A mistake in the syntax is one finding. Refuses what no person writes: more than 1 MiB, more than 2000 tables, nesting deeper than 32, control characters in keys.
std::expected<Table, Finding> parse_document(std::string_view text, std::string_view file);

}  // namespace coop::policy
