// Suggests the known word closest to a mistyped one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace coop {

// How many letters must be changed, added, removed or transposed.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known` within `most` edits (and fewer than the word's length); "" if there is
// none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t most = 3);

// At most three, the closest first: those within a few edits, then those that contain `word`.
std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> known);

}  // namespace coop
