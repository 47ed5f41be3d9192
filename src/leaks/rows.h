// Rows: consecutive characters of one alphabet.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "leaks/blocks.h"

namespace coop::leaks {

// The digits of both alphabets of base64.
struct Base64Digits {
  Mask operator()(Bytes c) const {
    return is_within(lower_case(c), 'a', 'z') | is_within(c, '/', '9') | is(c, '+') | is(c, '-') |
           is(c, '_');
  }
  // Of digits only.
  static Bytes values(Bytes c) {
    return c + where(is_within(c, 'A', 'Z'), static_cast<std::uint8_t>(-'A')) +
           where(is_within(c, 'a', 'z'), static_cast<std::uint8_t>(26 - 'a')) +
           where(is_within(c, '0', '9'), 52 - '0') + where(is(c, '+'), 62 - '+') +
           where(is(c, '-'), 62 - '-') + where(is(c, '/'), 63 - '/') +
           where(is(c, '_'), static_cast<std::uint8_t>(63 - '_'));
  }
};

struct HexDigits {
  Mask operator()(Bytes c) const {
    return is_within(c, '0', '9') | is_within(lower_case(c), 'a', 'f');
  }
  // Of digits only.
  static Bytes values(Bytes c) { return (c & all_of(15)) + where(c > all_of('9'), 9); }
};

// Digits and the separators between them on a line: "73 6b", "73:6b", "0x73, 0x6b", "\x73\x6b".
struct HexRun {
  Mask operator()(Bytes c) const {
    return is_within(c, '0', ':') | is_within(lower_case(c), 'a', 'f') | is(lower_case(c), 'x') |
           is(c, ' ') | is(c, ',') | is(c, '\\');
  }
};

struct Row {
  std::size_t begin = 0;
  std::size_t end = 0;  // equal to begin: none found
  bool operator==(const Row&) const = default;
};

// Rows are found in order, each with kLeast characters or more. Characters before `from` are
// ignored. A row longer than this is cut, and must be the last one requested.
inline constexpr std::size_t kMostRow = 200'000;

// For base64 every character is tested, sixty-four at a time: words are often nearly long enough.
class Base64Rows {
 public:
  static constexpr std::size_t kLeast = 24;
  Base64Rows(std::string_view text, std::size_t from);
  Row next();

 private:
  void load();
  Row row_from(std::size_t begin, std::size_t bit);

  std::string_view text_;
  std::size_t place_;       // of the block
  std::uint64_t word_ = 0;  // its digits not consumed yet
};

// For hexadecimal digits with separators, most characters are never tested.
class HexRows {
 public:
  static constexpr std::size_t kLeast = 40;
  HexRows(std::string_view text, std::size_t from) : text_(text), from_(from) {}
  Row next();

 private:
  std::string_view text_;
  std::size_t from_;
};

// The first position from `place` on with a character outside the set, or the text's end.
template <typename Set>
std::size_t end_of_row(std::string_view text, std::size_t place) {
  for (; place < text.size(); place += kBlock)
    if (const std::uint64_t word = Block(text, place).in(Set{}); word != ~std::uint64_t{0})
      return place + static_cast<std::size_t>(std::countr_one(word));
  return text.size();
}

// Whether the text has at least this many characters of the set.
template <typename Set>
bool has_as_many(std::string_view text, std::size_t count) {
  std::size_t found = 0;
  for (std::size_t place = 0; place < text.size() && found < count; place += kBlock)
    found += static_cast<std::size_t>(std::popcount(Block(text, place).in(Set{})));
  return found >= count;
}

// Whether nine consecutive bytes, from some base64 digit of the row on, can be ASCII.
bool has_ascii(std::string_view row);

// Bit n: nine such bytes exist when n digits are skipped at the front. Takes digit values.
unsigned ascii_ways(std::span<const unsigned char> values);

}  // namespace coop::leaks
