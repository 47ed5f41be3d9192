// Text from a file inside a message: printable and at most a line long.
#pragma once

#include <string>
#include <string_view>

namespace coop::policy {

// Printable and cut after about 80 characters.
std::string shortened(std::string_view text);
// The same in quotation marks.
std::string quoted(std::string_view text);
// Beside <iomanip>, a std::string would go to std::quoted().
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }

}  // namespace coop::policy
