#include "leaks/decode.h"

#include <algorithm>
#include <array>
#include <span>

namespace coop::leaks {

namespace {

using Values = std::span<const unsigned char>;

template <typename Visit>
void for_each_digit(std::string_view text, Encoding encoding, const Run& run, Visit visit) {
  for (std::size_t place = run.begin; place < run.end;) {
    const Digit digit = digit_at(text, encoding, place);
    if (digit.value != kNoDigit) visit(digit.value, place);
    place += digit.size;
  }
}

std::string packed(Values digits, unsigned bits) {
  std::string bytes;
  bytes.reserve(digits.size() * bits / 8);
  unsigned buffer = 0;
  unsigned filled = 0;
  for (const unsigned char digit : digits) {
    buffer = buffer << bits | digit;
    filled += bits;
    if (filled < 8) continue;
    filled -= 8;
    bytes += static_cast<char>(buffer >> filled);
  }
  return bytes;
}

// Whether skipping n digits of base64 gives nine consecutive ASCII bytes somewhere, for n below four.
// Every secret that a pattern describes is longer, and most words that only look like base64 have none.
std::array<bool, 4> ascii_ways(Values digits) {
  std::array<bool, 4> ways{};
  std::array<int, 4> groups{};  // consecutive groups of three ASCII bytes, by their first digit
  for (std::size_t place = 0; place + 2 < digits.size(); ++place) {
    // The first bits of three bytes are in the first three of four digits.
    const bool ascii =
        ((digits[place] & 32U) | (digits[place + 1] & 8U) | (digits[place + 2] & 2U)) == 0;
    int& group = groups[place % 4];
    group = ascii ? group + 1 : 0;
    if (group == 3) ways[place % 4] = true;
  }
  return ways;
}

std::size_t bits_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::base64: return 6;
    case Encoding::hex: return 4;
    case Encoding::plain:
    case Encoding::url: return 8;
  }
  return 8;
}

}  // namespace

// Every alignment is tried: characters before a blob may look like part of it ("key/c2st…"), and then only another
// start gives the secret.
std::vector<Decoding> decodings_of(std::string_view text, Encoding encoding, const Run& run) {
  std::vector<unsigned char> digits;
  digits.reserve(run.end - run.begin);
  for_each_digit(text, encoding, run, [&](unsigned value, std::size_t) {
    digits.push_back(static_cast<unsigned char>(value));
  });
  std::array<bool, 4> ways{true};
  if (encoding == Encoding::hex) ways = {true, true};
  if (encoding == Encoding::base64) ways = ascii_ways(digits);
  if (encoding == Encoding::hex && digits.size() < kLeastHex) ways = {};
  std::vector<Decoding> decodings;
  for (std::size_t skipped = 0; skipped < ways.size(); ++skipped)
    if (ways[skipped])
      decodings.push_back(
          {packed(Values(digits).subspan(skipped), static_cast<unsigned>(bits_of(encoding))),
           skipped});
  return decodings;
}

void move_to_text(std::string_view text, Encoding encoding, const Run& run,
                  const Decoding& decoding, std::vector<Leak>& leaks) {
  if (leaks.empty()) return;
  std::vector<std::size_t> places;
  for_each_digit(text, encoding, run,
                 [&](unsigned, std::size_t place) { places.push_back(place); });
  const std::size_t bits = bits_of(encoding);
  for (Leak& leak : leaks) {
    const bool at_end = leak.end == decoding.bytes.size();
    // The digits that hold the first bit of the first byte, and the last bit of the last one.
    const std::size_t last = places[decoding.skipped + (leak.end * 8 - 1) / bits];
    leak.begin = places[decoding.skipped + leak.begin * 8 / bits];
    leak.end = std::min(last + digit_at(text, encoding, last).size, run.end);
    leak.encoding = encoding;
    if (encoding != Encoding::base64 || !at_end) continue;
    for (int padding = 0; padding < 2 && text.substr(leak.end).starts_with('='); ++padding)
      ++leak.end;
  }
}

}  // namespace coop::leaks
