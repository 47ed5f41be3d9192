// Changes in TOML, as text: single values in tables. An item of a list or a table as value is refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/change.h"

namespace coop::setup {

Result<void> check_toml(std::string_view text);
Result<Edited> edit_toml(std::string_view text, const Change& change);
Result<Undone> undo_toml(std::string_view text, const Done& done);
bool toml_says_nothing(std::string_view text);

// A value that the document has, and the line where it is written, from 1.
struct TomlPlace {
  std::vector<std::string> path{};
  Json value{};
  std::size_t line = 0;
  bool operator==(const TomlPlace&) const = default;
};

// All values whose path is `pattern`, in which "*" is any name. None in what cannot be parsed.
std::vector<TomlPlace> find_toml(std::string_view text, std::span<const std::string> pattern);

}  // namespace coop::setup
