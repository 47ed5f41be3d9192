// Text from a file inside a message: printable and at most a line long.
#pragma once

#include <string>
#include <string_view>

namespace coop::policy {

// A control character (C1 included), or invalid UTF-8.
bool has_control(std::string_view text);

// At most about `most` bytes and "…", not cut within a character.
std::string start_of(std::string_view text, std::size_t most);
// Printable and cut after about 80 characters.
std::string shortened(std::string_view text);
// The same in quotation marks. Not called `quoted`: argument-dependent lookup would find std::quoted().
std::string quote(std::string_view text);

}  // namespace coop::policy
