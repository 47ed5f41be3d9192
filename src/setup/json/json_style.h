// How a JSON file is written, so that what is added looks like the rest.
#pragma once

#include <string>
#include <string_view>

#include "setup/json/json_scan.h"

namespace coop::setup {

struct JsonStyle {
  std::string line_end = "\n";
  std::string unit = "  ";  // of indentation
  bool flat = false;        // all in one line
};

JsonStyle style_of(std::string_view text, const JsonNode& root);

// `value` as this file would have it; lines after the first begin with `indentation`.
std::string written(const Json& value, const JsonStyle& style, std::string_view indentation);

// Where a new item goes in `container`. The item is `name` (`"key": `, or nothing in a list) and then the value.
Replacement insertion(std::string_view text, const JsonNode& container, const JsonStyle& style,
                      std::string_view name, const Json& value);

}  // namespace coop::setup
