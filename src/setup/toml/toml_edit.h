// Changes in TOML, as text: single values in tables. An item of a list or a table as value is refused.
#pragma once

#include <string_view>

#include "base/result.h"
#include "setup/change.h"

namespace coop::setup {

Result<void> check_toml(std::string_view text);
Result<Edited> edit_toml(std::string_view text, const Change& change);
Result<Undone> undo_toml(std::string_view text, const Done& done);
bool toml_says_nothing(std::string_view text);

}  // namespace coop::setup
