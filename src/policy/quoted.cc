#include "policy/quoted.h"

#include <algorithm>

#include "base/path.h"

namespace coop::policy {

bool has_control(std::string_view text) {
  // is_utf8() refuses C1 controls.
  return !is_utf8(text) || std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

std::string start_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string shortened(std::string_view text) { return printable(start_of(text, 80)); }

std::string quote(std::string_view text) { return "\"" + shortened(text) + "\""; }

}  // namespace coop::policy
