// ASCII letters and blanks, independent of the locale; and lists of words.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace coop {

std::string lower(std::string_view text);

// All words with `separator` between them.
template <typename Words>
std::string joined(const Words& words, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& word : words) {
    if (!std::exchange(first, false)) text += separator;
    text += word;
  }
  return text;
}

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

// std::ranges::contains, which GCC 12 does not have.
template <typename Range, typename Value, typename Projection = std::identity>
constexpr bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

}  // namespace coop
