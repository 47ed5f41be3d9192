// Which texts are accepted as paths, before the file system is accessed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::tools {

// Refuses paths that are empty, too long or not UTF-8, that have control or invisible characters or
// changes of direction (which make a path read as another), or that need a shell ("~/x",
// "$HOME/x").
Result<void> check_form(std::string_view operation, std::string_view path);

// For messages: quoted, printable, shortened.
std::string in_quotes(std::string_view path);

}  // namespace coop::tools
