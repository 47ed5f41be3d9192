// Checks untrusted JSON before it is parsed: deep nesting would overflow the stack of a recursive
// walk.
#pragma once

#include <cstddef>
#include <string_view>

namespace coop {

// Deeper than any valid message, policy or argument.
inline constexpr std::size_t kMostNesting = 64;

// Whether brackets are nested deeper than `most` in a text that may or may not be JSON.
bool nests_deeper(std::string_view json, std::size_t most = kMostNesting);

}  // namespace coop
