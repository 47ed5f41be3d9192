// Pieces of a text, and what takes their place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace coop::setup {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Span&) const = default;
};

struct Replacement {
  Span span{};
  std::string text{};
};

inline std::string_view piece(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

inline std::string replaced(std::string_view text, const Replacement& replacement) {
  std::string result(text.substr(0, replacement.span.begin));
  result += replacement.text;
  return result.append(text.substr(replacement.span.end));
}

// The blanks at the front of the line that has `at`.
inline std::string indentation_at(std::string_view text, std::size_t at) {
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text.find_first_not_of(" \t", line), at);
  return std::string(text.substr(line, end - line));
}

}  // namespace coop::setup
