#include "host/text.h"

#include <charconv>

#include "base/text.h"

namespace coop::host {

std::string_view take_field(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

std::optional<std::string_view> take_line(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  return take_field(rest, '\n');
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool has_word(std::string_view text, std::string_view word) {
  while (auto line = take_line(text))
    while (!line->empty())
      if (take_field(*line, ' ') == word) return true;
  return false;
}

std::string_view status_field(std::string_view text, std::string_view name) {
  while (const auto line = take_line(text)) {
    std::string_view value = *line;
    if (take_field(value, ':') != name) continue;
    return trimmed(value);
  }
  return {};
}

}  // namespace coop::host
