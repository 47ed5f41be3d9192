// Words of a file inside a message: safe to print, and never longer than a line.
#pragma once

#include <string>
#include <string_view>

namespace coop::policy {

// Printable and cut after 80 characters or so.
std::string shortened(std::string_view text);
// The same in quotation marks.
std::string quoted(std::string_view text);

}  // namespace coop::policy
