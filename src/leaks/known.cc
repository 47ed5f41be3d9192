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
  for (std::size_t index = 0; index < known.size(); ++index) {
    const std::string& value = known[index].value;
    if (value.size() < kLeast) continue;
    if (value.find_first_of("\r\n") != std::string::npos)
      longest_over_lines_ = std::max(longest_over_lines_, value.size());
    text_.add({.bytes = value, .value = index});
    decoded_.add({.bytes = value, .value = index});
    // Their encoded forms are too short to be decoded as a run; base64 runs are decoded for ASCII
    // only.
    const bool ascii = std::ranges::all_of(value, [](char c) { return (c & 0x80) == 0; });
    if (value.size() * 2 < kLeastHex)
      for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"})
        text_.add({.bytes = hex_of(value, digits), .value = index, .encoding = Encoding::hex});
    if (!ascii || value.size() * 4 / 3 < kLeastBase64)
      for (std::size_t before = 0; before < 3; ++before)
        for (const std::string_view last_two : {"+/", "-_"})
          text_.add({.bytes = base64_inside(value, before, last_two),
                     .value = index,
                     .encoding = Encoding::base64});
  }
  text_.prepare();
  decoded_.prepare();
}

void KnownValues::find_in_text(std::string_view text, std::vector<Hit>& hits) const {
  const std::size_t first = hits.size();
  text_.find(text, hits);
  // The digits at both ends hold bits of the value and of its neighbours.
  for (Hit& hit : std::span(hits).subspan(first)) {
    if (hit.encoding != Encoding::base64) continue;
    const auto is_digit = [&](std::size_t place) {
      return digit_at(text, Encoding::base64, place).value != kNoDigit;
    };
    if (hit.begin > 0 && is_digit(hit.begin - 1)) --hit.begin;
    if (hit.end < text.size() && is_digit(hit.end)) ++hit.end;
    for (int padding = 0; padding < 2 && text.substr(hit.end).starts_with('='); ++padding)
      ++hit.end;
  }
}

void KnownValues::find_in_decoded(std::string_view text, std::vector<Hit>& hits) const {
  decoded_.find(text, hits);
}

void KnownValues::Search::add(Needle needle) { needles_.push_back(std::move(needle)); }

void KnownValues::Search::prepare() {
  if (needles_.empty()) return;
  shift_.assign(std::size_t{1} << 16U, kLeast - 1);
  for (const Needle& needle : needles_)
    for (std::size_t place = 0; place + 2 <= kLeast; ++place) {
      std::uint8_t& shift = shift_[pair_at(needle.bytes, place)];
      shift = std::min(shift, static_cast<std::uint8_t>(kLeast - 2 - place));
    }
  // Group candidates for comparison, longest first, so that the longest match is reported.
  std::ranges::sort(needles_, [](const Needle& a, const Needle& b) {
    const auto key = [](const Needle& needle) { return pair_at(needle.bytes, kLeast - 2); };
    return std::pair(key(a), b.bytes.size()) < std::pair(key(b), a.bytes.size());
  });
}

void KnownValues::Search::find(std::string_view text, std::vector<Hit>& hits) const {
  if (needles_.empty()) return;
  for (std::size_t place = 0; place + kLeast <= text.size();) {
    const std::size_t pair = pair_at(text, place + kLeast - 2);
    if (shift_[pair] != 0) {
      place += shift_[pair];
      continue;
    }
    const auto candidates = std::ranges::equal_range(
        needles_, pair, {}, [](const Needle& needle) { return pair_at(needle.bytes, kLeast - 2); });
    const std::string_view rest = text.substr(place);
    const auto found = std::ranges::find_if(
        candidates, [&](const Needle& needle) { return rest.starts_with(needle.bytes); });
    if (found == candidates.end()) {
      ++place;
      continue;
    }
    const std::size_t end = place + found->bytes.size();
    hits.push_back(
        {.value = found->value, .encoding = found->encoding, .begin = place, .end = end});
    place = end;
  }
}

}  // namespace coop::leaks
