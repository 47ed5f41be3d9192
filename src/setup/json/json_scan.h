// JSON as a tree of places in the text. Comments and a comma after the last item are allowed, as editors allow them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "setup/piece.h"

namespace coop::setup {

enum class JsonKind : std::uint8_t { scalar, list, object };

struct JsonNode {
  JsonKind kind = JsonKind::scalar;
  Span span{};
  std::string key{};  // of a member
  Span member{};      // key and value; of an item the value alone
  std::vector<JsonNode> items{};
};

// One value, with nothing but blanks and comments around it. Refuses what is nested deeper than 64, and invalid UTF-8.
Result<JsonNode> scan_json(std::string_view text);

// The last member of that name, which is the one that counts; null if there is none.
const JsonNode* find_member(const JsonNode& object, std::string_view key);

Json json_of(const JsonNode& node, std::string_view text);

// The first place at or after `at` that is neither blank nor in a comment.
std::size_t skip_blanks(std::string_view text, std::size_t at);

}  // namespace coop::setup
