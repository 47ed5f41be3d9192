#include "policy/quoted.h"

#include "base/path.h"

namespace coop::policy {

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 80;
  if (text.size() <= kMost) return printable(text);
  std::size_t end = kMost;
  // Do not cut within a UTF-8 character: its first half would be printed as an escape.
  while (end > kMost - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return printable(text.substr(0, end)) + "…";
}

std::string quoted(std::string_view text) { return "\"" + shortened(text) + "\""; }

}  // namespace coop::policy
