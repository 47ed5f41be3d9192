// Names of hosts as they come over the wire: one spelling for each, or none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coop::net {

// In lower case, without a dot at the end. Nothing for what is no name: other characters than letters, digits, "-", "_" and
// ".", empty or overlong parts, more than 253 characters, and what some programs take for an address ("127.1", "0x7f").
std::optional<std::string> host_name(std::string_view text);

}  // namespace coop::net
