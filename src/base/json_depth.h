// JSON of others, before it is parsed: what is nested very deeply would end the stack of whoever walks it.
#pragma once

#include <cstddef>
#include <string_view>

namespace coop {

// Deeper than any message, policy or argument of ours is meant to be.
inline constexpr std::size_t kMostNesting = 64;

// Whether brackets are nested deeper than `most` in a text that may or may not be JSON.
bool nests_deeper(std::string_view json, std::size_t most = kMostNesting);

}  // namespace coop
