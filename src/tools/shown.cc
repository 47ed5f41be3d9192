#include "tools/shown.h"

namespace coop::tools {

namespace {

constexpr std::size_t kRoomForNote = 100;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

// Characters outside the basic plane are two UTF-16 units.
std::size_t units_of(char first) {
  if (continues(first)) return 0;
  return static_cast<unsigned char>(first) >= 0xf0 ? 2 : 1;
}

std::size_t json_units_of(char first) {
  switch (first) {
    case '"':
    case '\\':
    case '\n':
    case '\r':
    case '\t':
    case '\b':
    case '\f': return 2;
    default: break;
  }
  return static_cast<unsigned char>(first) < 0x20 ? 6 : units_of(first);
}

std::string_view end_of(std::string_view text, std::size_t most, Measure measure) {
  std::size_t start = text.size();
  std::size_t sum = 0;
  while (start > 0) {
    std::size_t before = start - 1;
    while (before > 0 && continues(text[before])) --before;
    sum += measure(text.substr(before, start - before));
    if (sum > most) break;
    start = before;
  }
  return text.substr(start);
}

}  // namespace

std::size_t characters_of(std::string_view text) {
  std::size_t sum = 0;
  for (const char c : text) sum += units_of(c);
  return sum;
}

std::size_t json_characters_of(std::string_view text) {
  std::size_t sum = 0;
  for (const char c : text) sum += json_units_of(c);
  return sum;
}

std::string_view beginning_of(std::string_view text, std::size_t most, Measure measure) {
  std::size_t end = 0;
  std::size_t sum = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() && continues(text[next])) ++next;
    sum += measure(text.substr(end, next - end));
    if (sum > most) break;
    end = next;
  }
  return text.substr(0, end);
}

std::string clipped(const std::string& text, std::size_t most, Measure measure) {
  if (measure(text) <= most) return text;
  const std::size_t room = most > kRoomForNote ? most - kRoomForNote : 0;
  const std::string_view head = beginning_of(text, room / 2, measure);
  const std::string_view tail =
      end_of(std::string_view(text).substr(head.size()), room - room / 2, measure);
  const std::size_t left_out = characters_of(
      std::string_view(text).substr(head.size(), text.size() - head.size() - tail.size()));
  return std::string(head) + "\n[… " + std::to_string(left_out) + " characters are not shown …]\n" +
         std::string(tail);
}

}  // namespace coop::tools
