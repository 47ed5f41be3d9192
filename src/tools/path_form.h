// Which texts are taken for paths at all, before any file is looked at.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::tools {

// Refuses what is empty, too long, not UTF-8, has control characters or ones that make a path read
// as another (zero width, changes of direction), or hopes for a shell ("~/x", "$HOME/x").
Result<void> check_form(std::string_view operation, std::string_view path);

// For messages: in quotes, printable, and not endless.
std::string in_quotes(std::string_view path);

}  // namespace coop::tools
