#include "base/wildcard.h"

#include <cstdint>
#include <string>

#include "base/path.h"

namespace coop {

namespace {

// Packs the bytes of one UTF-8 character into one number, which sorts like the character. A byte
// that starts no character stands for itself.
std::uint32_t take_character(std::string_view text, std::size_t& index) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(index);
  std::size_t length = 1;
  if (first >= 0xc2) length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
  if (text.size() - index < length) length = 1;
  for (std::size_t more = 1; more < length; ++more)
    if ((byte(index + more) & 0xc0) != 0x80) length = 1;
  std::uint32_t packed = 0;
  for (std::size_t more = 0; more < length; ++more) packed = (packed << 8) | byte(index + more);
  index += length;
  return packed;
}

// The set that starts with the "[" at `start`, without its brackets; `end` is after the "]".
struct Set {
  std::string_view members{};
  std::size_t end = 0;  // 0: there is no "]", so this is no set
  bool inverted = false;
};

Set read_set(std::string_view pattern, std::size_t start) {
  Set set;
  std::size_t from = start + 1;
  if (from < pattern.size() && pattern[from] == '!') {
    set.inverted = true;
    ++from;
  }
  const std::size_t close = pattern.find(']', from);
  if (close == std::string_view::npos) return set;
  set.members = pattern.substr(from, close - from);
  set.end = close + 1;
  return set;
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// "a-z", or one character as a range of itself; a "-" at either end is literal.
Range take_range(std::string_view members, std::size_t& index) {
  Range range{};
  range.first = range.last = take_character(members, index);
  if (index + 1 < members.size() && members[index] == '-')
    range.last = take_character(members, ++index);
  return range;
}

bool contains(const Set& set, std::uint32_t character) {
  bool found = false;
  for (std::size_t index = 0; index < set.members.size() && !found;) {
    const Range range = take_range(set.members, index);
    found = character >= range.first && character <= range.last;
  }
  return found != set.inverted;
}

// Whether the pattern's item at `p` (not a star) matches the character at `n`; advances both.
bool takes_one(std::string_view pattern, std::size_t& p, std::string_view name, std::size_t& n) {
  if (p == pattern.size()) return false;
  const std::uint32_t character = take_character(name, n);
  if (pattern[p] == '?') {
    ++p;
    return true;
  }
  if (pattern[p] == '[') {
    if (const Set set = read_set(pattern, p); set.end != 0) {
      p = set.end;
      return contains(set, character);
    }
  }
  return take_character(pattern, p) == character;
}

}  // namespace

bool has_wildcard(std::string_view text) {
  for (const char letter : text)
    if (letter == '*' || letter == '?' || letter == '[') return true;
  return false;
}

std::string as_wildcard(std::string_view text) {
  std::string pattern;
  for (const char letter : text)
    if (has_wildcard({&letter, 1})) pattern += {'[', letter, ']'};
    else pattern += letter;
  return pattern;
}

Result<void> check_wildcard(std::string_view pattern) {
  const auto refuse = [&](std::string_view why, std::string_view hint) {
    return invalid(in_quotes(pattern), why, hint);
  };
  for (std::size_t index = 0; index < pattern.size();) {
    if (pattern.substr(index).starts_with("**"))
      return refuse("has \"**\" in it", "write one \"*\" for each level of directories");
    if (pattern[index] != '[') {
      ++index;
      continue;
    }
    const Set set = read_set(pattern, index);
    if (set.end == 0) return refuse("has a \"[\" without \"]\"", "write [[] to mean the character");
    if (set.members.empty()) return refuse("has an empty [] in it", "name at least one character");
    for (std::size_t member = 0; member < set.members.size();) {
      const Range range = take_range(set.members, member);
      if (range.first > range.last) return refuse("has a backward range in []", "write it as a-z");
    }
    index = set.end;
  }
  return {};
}

bool matches_wildcard(std::string_view pattern, std::string_view name) {
  // Backtrack only to the last star: everything before it has matched as early as possible.
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t after_star = std::string_view::npos;
  std::size_t star_took = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_took = n;
      continue;
    }
    if (takes_one(pattern, p, name, n)) continue;
    if (after_star == std::string_view::npos) return false;
    take_character(name, star_took);
    p = after_star;
    n = star_took;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace coop
