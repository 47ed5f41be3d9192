// The statements of a TOML document as places in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "setup/piece.h"

namespace coop::setup {

enum class StatementKind : std::uint8_t { table, table_of_list, value };

struct Statement {
  StatementKind kind = StatementKind::value;
  std::vector<std::string>
      path{};             // with the names of its table; of a list of tables without a number
  std::size_t table = 0;  // how many of these are its table's
  Span line{};            // with the end of its last line
  Span value{};           // of StatementKind::value
  bool in_list = false;   // in a table of a list: its path names more than one place
};

// Of text that parse_document() takes; what it does not take may come apart in any way, but ends.
std::vector<Statement> scan_toml(std::string_view text);

}  // namespace coop::setup
