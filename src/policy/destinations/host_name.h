// Normalises host names received over the network.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coop::policy {

// In lower case, without a trailing dot. Nothing if invalid: other characters than letters, digits,
// "-", "_" and ".", empty or overlong labels, more than 253 characters, and what some programs take
// for an address ("127.1", "0x7f").
std::optional<std::string> host_name(std::string_view text);

// "localhost" and the names below it (RFC 6761): always this machine. `name` as host_name() spells it.
bool is_localhost(std::string_view name);

}  // namespace coop::policy
