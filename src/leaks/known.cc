#include "leaks/known.h"

#include <algorithm>
#include <utility>

#include "leaks/runs.h"

namespace coop::leaks {

namespace {

std::size_t pair_at(std::string_view text, std::size_t place) {
  return static_cast<std::size_t>(static_cast<unsigned char>(text[place])) << 8U |
         static_cast<unsigned char>(text[place + 1]);
}

std::string hex_of(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

// The digits that depend only on the value when `before` other bytes precede it.
std::string base64_inside(std::string_view bytes, std::size_t before, std::string_view last_two) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  const std::size_t cut = (6 - before * 8 % 6) % 6;  // bits shared with the byte before
  std::size_t dropped = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    count += 8;
    if (dropped < cut) {
      count -= static_cast<unsigned>(cut);
      dropped = cut;
    }
    while (count >= 6) {
      const unsigned digit = bits >> (count - 6) & 63U;
      text += digit < 62 ? kDigits[digit] : last_two[digit - 62];
      count -= 6;
    }
    bits &= (1U << count) - 1;
  }
  return text;
}

}  // namespace

KnownValues::KnownValues(std::span<const LeakScanner::Known> known) {
  for (const auto& [variable, value] : known) {
    if (value.size() < kLeast) continue;
    if (value.find_first_of("\r\n") != std::string::npos)
      longest_over_lines_ = std::max(longest_over_lines_, value.size());
    const std::string name = "environment: " + variable;
    add({.bytes = value, .name = name});
    // Their encoded forms are too short to be decoded as a run; base64 runs are decoded for ASCII
    // only.
    const bool ascii = std::ranges::all_of(value, [](char c) { return (c & 0x80) == 0; });
    if (value.size() * 2 < kLeastHex)
      for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"})
        add({.bytes = hex_of(value, digits), .name = name, .encoding = Encoding::hex});
    if (!ascii || value.size() * 4 / 3 < kLeastBase64)
      for (std::size_t before = 0; before < 3; ++before)
        for (const std::string_view last_two : {"+/", "-_"})
          add({.bytes = base64_inside(value, before, last_two),
               .name = name,
               .encoding = Encoding::base64});
  }
}

void KnownValues::add(Needle needle) {
  pairs_[pair_at(needle.bytes, 0)] = true;
  needles_.push_back(std::move(needle));
}

void KnownValues::find_in_text(std::string_view text, std::vector<Leak>& leaks) const {
  const std::size_t first = leaks.size();
  find(text, [](const Needle&) { return true; }, leaks);
  // The digits at both ends hold bits of the value and of its neighbours.
  for (Leak& leak : std::span(leaks).subspan(first)) {
    if (leak.encoding != Encoding::base64) continue;
    const auto is_digit = [&](std::size_t place) {
      return digit_at(text, Encoding::base64, place).value != kNoDigit;
    };
    if (leak.begin > 0 && is_digit(leak.begin - 1)) --leak.begin;
    if (leak.end < text.size() && is_digit(leak.end)) ++leak.end;
    for (int padding = 0; padding < 2 && text.substr(leak.end).starts_with('='); ++padding)
      ++leak.end;
  }
}

void KnownValues::find_in_decoded(std::string_view text, std::vector<Leak>& leaks) const {
  find(text, [](const Needle& needle) { return needle.encoding == Encoding::plain; }, leaks);
}

void KnownValues::find(std::string_view text, bool (*wanted)(const Needle&),
                       std::vector<Leak>& leaks) const {
  if (needles_.empty()) return;
  for (std::size_t place = 0; place + kLeast <= text.size(); ++place) {
    if (!pairs_[pair_at(text, place)]) continue;
    for (const Needle& needle : needles_)
      if (wanted(needle) && text.substr(place).starts_with(needle.bytes))
        leaks.push_back({.name = needle.name,
                         .reason = "the value of a variable that holds a secret",
                         .encoding = needle.encoding,
                         .begin = place,
                         .end = place + needle.bytes.size()});
  }
}

}  // namespace coop::leaks
