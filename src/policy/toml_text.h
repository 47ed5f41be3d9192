// Text as TOML writes it.
#pragma once

#include <string>
#include <string_view>

namespace coop::policy {

// In quotes, with everything escaped that a terminal obeys. What is not UTF-8, which TOML cannot hold,
// becomes U+FFFD.
std::string toml_text(std::string_view text);

// Bare when it can be, else in quotes.
std::string toml_key(std::string_view key);

}  // namespace coop::policy
