// Text as TOML writes it.
#pragma once

#include <string>
#include <string_view>

namespace coop::policy {

// A quoted string, with everything escaped that a terminal interprets. Invalid UTF-8, which TOML
// cannot represent, becomes U+FFFD.
std::string toml_text(std::string_view text);

// A bare key if possible, else quoted.
std::string toml_key(std::string_view key);

}  // namespace coop::policy
