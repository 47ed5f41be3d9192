// Finds where a text looks encoded: runs of digits of one encoding, and the digits in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "leaks/leaks.h"
#include "leaks/rows.h"

namespace coop::leaks {

struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;   // equal to begin: none found
  std::size_t next = 0;  // where to search for the next one
  bool operator==(const Run&) const = default;
};

// Minimum length of a run; shorter ones hold no secret that a pattern describes.
inline constexpr std::size_t kLeastBase64 = Base64Rows::kLeast;
inline constexpr std::size_t kLeastHex = HexRows::kLeast;

// The first run from `from` on. URL-encoded: a word that contains %XX. A very long run is returned
// in slices that overlap by more than the longest secret, so that memory is bounded.
Run next_run(std::string_view text, Encoding encoding, std::size_t from);

inline constexpr unsigned kNoDigit = 256;

// What is at `place` inside a run: its value, and how many characters it takes. Line breaks,
// separators and prefixes ("0x", "\x") are no digits. For URL encoding a digit is a whole byte.
struct Digit {
  unsigned value = kNoDigit;
  std::size_t size = 1;
};
Digit digit_at(std::string_view text, Encoding encoding, std::size_t place);

struct Digits {
  std::size_t count = 0;
  // For base64: bit n is set when skipping n digits gives nine consecutive ASCII bytes somewhere.
  // Every secret that a pattern describes is longer, and most words that only look like base64 have
  // none.
  unsigned ascii_from = 0;
};
// The values of all digits of a base64 or hexadecimal run, at the front of `values`, which only
// grows.
Digits read_digits(std::string_view text, Encoding encoding, std::size_t begin, std::size_t end,
                   std::vector<unsigned char>& values);

// Whether a base64 or hexadecimal run may continue over the line break before `line`, the start of
// a line. Assumes that anything may follow the text.
bool may_be_wrapped(std::string_view text, std::size_t line);

}  // namespace coop::leaks
