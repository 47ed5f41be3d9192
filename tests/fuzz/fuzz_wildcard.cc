// Wildcards: the matcher agrees with a naive one, and never hangs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/path.h"
#include "base/wildcard.h"

namespace {

// Of ASCII and patterns that were checked; takes exponential time.
bool matches_slowly(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*')
    return matches_slowly(pattern.substr(1), name) ||
           (!name.empty() && matches_slowly(pattern, name.substr(1)));
  if (name.empty()) return false;
  if (pattern.front() == '?') return matches_slowly(pattern.substr(1), name.substr(1));
  if (pattern.front() != '[')
    return pattern.front() == name.front() && matches_slowly(pattern.substr(1), name.substr(1));
  const std::size_t close = pattern.find(']', pattern[1] == '!' ? 2 : 1);
  std::string_view set = pattern.substr(1, close - 1);
  const bool inverted = set.front() == '!';
  if (inverted) set.remove_prefix(1);
  bool found = false;
  while (!set.empty()) {
    const bool range = set.size() > 2 && set[1] == '-';
    const char last = range ? set[2] : set[0];
    if (name.front() >= set[0] && name.front() <= last) found = true;
    set.remove_prefix(range ? 3 : 1);
  }
  return found != inverted && matches_slowly(pattern.substr(close + 1), name.substr(1));
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t middle = text.empty() ? 0 : data[0] % (text.size() + 1);
  const std::string_view pattern = text.substr(0, middle);
  const std::string_view name = text.substr(middle);

  const bool matched = coop::matches_wildcard(pattern, name);
  const auto checked = coop::check_wildcard(pattern);
  if (!checked && checked.error().subject.find('\n') != std::string::npos) std::abort();
  if (!coop::has_wildcard(pattern) && (!checked || matched != (pattern == name))) std::abort();
  if (checked && size <= 24 && is_ascii(text) && matched != matches_slowly(pattern, name))
    std::abort();
  return 0;
}
