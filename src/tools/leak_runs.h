// Where a text looks encoded: runs of digits of one kind, and the digits in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/leak_rows.h"
#include "tools/leaks.h"

namespace coop::tools {

struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;   // the same as begin: there is none
  std::size_t next = 0;  // where to look for the one after it
  bool operator==(const Run&) const = default;
};

// A run has at least so many characters; shorter ones hold no secret that a pattern describes.
inline constexpr std::size_t kLeastBase64 = Base64Rows::kLeast;
inline constexpr std::size_t kLeastHex = HexRows::kLeast;

// The first run from `from` on. URL-encoded: a word with %XX in it. A very long one is given in slices
// which overlap by more than any secret is long, so that memory is bounded.
Run next_run(std::string_view text, Encoding encoding, std::size_t from);

inline constexpr unsigned kNoDigit = 256;

// What stands at `place` inside a run: its value, and how many characters it takes. Line breaks,
// separators and prefixes ("0x", "\x") are no digits. For URL encoding a digit is a whole byte.
struct Digit {
  unsigned value = kNoDigit;
  std::size_t size = 1;
};
Digit digit_at(std::string_view text, Encoding encoding, std::size_t place);

struct Digits {
  std::size_t count = 0;
  // Of base64: bit n is set when leaving out n digits gives nine ASCII bytes in a row somewhere. Every
  // secret that a pattern describes is longer, and most words that only look like base64 have none.
  unsigned ascii_from = 0;
};
// The values of all digits of a run, base64 or hexadecimal, at the front of `values`, which grows only.
Digits read_digits(std::string_view text, Encoding encoding, std::size_t begin, std::size_t end,
                   std::vector<unsigned char>& values);

// Whether a base64 or hexadecimal run may go on over the line break in front of `line`, the beginning
// of a line. What comes after the text may be anything.
bool may_be_wrapped(std::string_view text, std::size_t line);

}  // namespace coop::tools
