// Finds where a text looks encoded: runs of digits of one encoding, and the digits in them.
#pragma once

#include <cstddef>
#include <string_view>

#include "leaks/leaks.h"

namespace coop::leaks {

struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;   // equal to begin: none found
  std::size_t next = 0;  // where to search for the next one
  bool operator==(const Run&) const = default;
};

// Minimum length of a run; shorter ones hold no secret that a pattern describes.
inline constexpr std::size_t kLeastBase64 = 24;
inline constexpr std::size_t kLeastHex = 40;
// A longer run is returned in slices that overlap by more than the longest secret, so that memory is bounded.
inline constexpr std::size_t kMostRun = 200'000;

// The first run from `from` on. URL-encoded: a word that contains %XX.
Run next_run(std::string_view text, Encoding encoding, std::size_t from);

inline constexpr unsigned kNoDigit = 256;

// What is at `place` inside a run: its value, and how many characters it takes. Line breaks,
// separators and prefixes ("0x", "\x") are no digits. For URL encoding a digit is a whole byte.
struct Digit {
  unsigned value = kNoDigit;
  std::size_t size = 1;
};
Digit digit_at(std::string_view text, Encoding encoding, std::size_t place);

// Whether a base64 or hexadecimal run may continue over the line break before `line`, the start of
// a line. Assumes that anything may follow the text.
bool may_be_wrapped(std::string_view text, std::size_t line);

}  // namespace coop::leaks
