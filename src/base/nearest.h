// The known word a mistyped one most likely was.
#pragma once

#include <span>
#include <string_view>

namespace coop {

// How many letters must be changed, added, removed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known` within `most` changes (and less than the word's own length); "" when none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t most = 3);

}  // namespace coop
