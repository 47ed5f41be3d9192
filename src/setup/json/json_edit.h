// Changes in JSON, as text.
#pragma once

#include <string_view>

#include "base/result.h"
#include "setup/change.h"

namespace coop::setup {

Result<void> check_json(std::string_view text);
Result<Edited> edit_json(std::string_view text, const Change& change);
Result<Undone> undo_json(std::string_view text, const Done& done);
bool json_says_nothing(std::string_view text);

}  // namespace coop::setup
