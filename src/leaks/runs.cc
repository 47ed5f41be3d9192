#include "leaks/runs.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace coop::leaks {

namespace {

constexpr std::size_t kOverlap = 66'000;

using Table = std::array<std::uint16_t, 256>;
using Set = std::array<bool, 256>;

// The value of each digit is its place in `digits`, and also in `others`, from `first` on.
constexpr Table values_of(std::string_view digits, std::string_view others, std::uint16_t first) {
  Table table{};
  table.fill(kNoDigit);
  std::uint16_t value = 0;
  for (const char c : digits) table[static_cast<unsigned char>(c)] = value++;
  for (const char c : others) table[static_cast<unsigned char>(c)] = first++;
  return table;
}
constexpr Table kBase64Value =
    values_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "-_", 62);
constexpr Table kHexValue = values_of("0123456789abcdef", "ABCDEF", 10);

constexpr Set set_of(const Table& values, std::string_view separators = {}) {
  Set set{};
  for (std::size_t c = 0; c < 256; ++c) set[c] = values[c] != kNoDigit;
  for (const char c : separators) set[static_cast<unsigned char>(c)] = true;
  return set;
}
constexpr Set kBase64Digits = set_of(kBase64Value);
constexpr Set kHexDigits = set_of(kHexValue);
// Digits and the separators between them on a line: "73 6b", "73:6b", "0x73, 0x6b", "\\x73\\x6b".
constexpr Set kHexRun = set_of(kHexValue, " :,\\xX");

// A word: all printable characters except quotes, brackets and the backslash.
constexpr Set kUrlRun = [] {
  Set set{};
  for (std::size_t c = 0x21; c < 0x7f; ++c) set[c] = true;
  for (const char c : std::string_view("\"'`<>{}|\\^")) set[static_cast<unsigned char>(c)] = false;
  return set;
}();

bool is_in(const Set& set, char c) { return set[static_cast<unsigned char>(c)]; }
unsigned value_in(const Table& table, char c) { return table[static_cast<unsigned char>(c)]; }

std::size_t end_of(const Set& set, std::string_view text, std::size_t place) {
  while (place < text.size() && is_in(set, text[place])) ++place;
  return place;
}

std::size_t begin_of(const Set& set, std::string_view text, std::size_t place, std::size_t least) {
  while (place > least && is_in(set, text[place - 1])) --place;
  return place;
}

// Skips a line break, literal or as an escape in JSON and source code, and the next line's
// indentation; returns `place` when there is none.
std::size_t past_break(std::string_view text, std::size_t place) {
  constexpr std::size_t kMostIndent = 16;
  if (place >= text.size() || (text[place] != '\n' && text[place] != '\r' && text[place] != '\\'))
    return place;
  std::size_t after = place;
  for (const std::string_view mark : {"\r\n", "\n", "\\r\\n", "\\n"})
    if (after == place && text.substr(place).starts_with(mark)) after += mark.size();
  if (after == place) return place;
  const std::size_t most = std::min(text.size(), after + kMostIndent);
  while (after < most && (text[after] == ' ' || text[after] == '\t')) ++after;
  return after;
}

// Wrapped base64 and `xxd -p`: lines of one length, only the last is shorter. Anything else on the
// next line is not part of the run: names in a listing are not one blob.
std::size_t end_of_wrapped(const Set& digits, std::string_view text, std::size_t end,
                           std::size_t width) {
  while (true) {
    const std::size_t begin = past_break(text, end);
    if (begin == end) return end;
    const std::size_t next = end_of(digits, text, begin);
    if (next == begin || next - begin > width) return end;
    end = next;
    if (next - begin < width) return end;
  }
}

// The part of a run that is scanned, from `place` or from its escape there.
std::string_view window_at(std::string_view text, std::size_t place) {
  return text.substr(0, std::min(text.size(), place + kMostRun));
}

// A run that reaches the end of its window continues in the next, with an overlap.
Run slice(std::string_view text, std::string_view window, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMostBreak = 32;
  if (window.size() == text.size() || end + kMostBreak < window.size())
    return {.begin = begin, .end = end, .next = end};
  std::size_t next = end - kOverlap;
  // Never split an escape: "%2F", "\\n".
  for (int back = 0; back < 2 && text[next - 1] != '%'; ++back) --next;
  return {.begin = begin, .end = end, .next = text[next - 1] == '\\' ? next - 1 : next};
}

// Which characters form a run, which of them are digits, and how many make one.
struct Kind {
  const Set& run;
  const Set& digits;
  std::size_t least;
};
constexpr Kind kBase64{kBase64Digits, kBase64Digits, kLeastBase64};
constexpr Kind kHex{kHexRun, kHexDigits, kLeastHex};

Run next_digits(const Kind& kind, std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const std::string_view window = window_at(text, from);
    const std::size_t end = end_of(kind.run, window, from);
    if (end - from < kind.least) {
      from = end + 1;
      continue;
    }
    // Only unseparated digits are wrapped.
    const std::size_t width = end - begin_of(kind.digits, text, end, from);
    return slice(text, window, from,
                 width >= kind.least ? end_of_wrapped(kind.digits, window, end, width) : end);
  }
  return {.begin = text.size(), .end = text.size(), .next = text.size()};
}

bool is_escape(std::string_view text, std::size_t percent) {
  return percent + 2 < text.size() && value_in(kHexValue, text[percent + 1]) != kNoDigit &&
         value_in(kHexValue, text[percent + 2]) != kNoDigit;
}

Run next_url(std::string_view text, std::size_t from) {
  for (std::size_t percent = text.find('%', from); percent != std::string_view::npos;
       percent = text.find('%', percent + 1)) {
    if (!is_escape(text, percent)) continue;
    const std::string_view window = window_at(text, percent);
    const std::size_t least = percent - from > kOverlap ? percent - kOverlap : from;
    return slice(text, window, begin_of(kUrlRun, text, percent, least),
                 end_of(kUrlRun, window, percent));
  }
  return {.begin = text.size(), .end = text.size(), .next = text.size()};
}

// Whether lines of these digits may form one run over the break between `end` and `begin`.
bool may_go_on(const Kind& kind, std::string_view text, std::size_t end, std::size_t begin) {
  const std::size_t width = end - begin_of(kind.digits, text, end, 0);
  if (width < kind.least) return false;
  const std::size_t next = end_of(kind.digits, text, begin);
  return next == text.size() || (next > begin && next - begin <= width);
}

bool is_prefix(std::string_view text, std::size_t place) {
  return text[place] == '0' && place + 1 < text.size() &&
         (text[place + 1] == 'x' || text[place + 1] == 'X');
}

}  // namespace

Run next_run(std::string_view text, Encoding encoding, std::size_t from) {
  if (encoding == Encoding::url) return next_url(text, from);
  return next_digits(encoding == Encoding::base64 ? kBase64 : kHex, text, from);
}

Digit digit_at(std::string_view text, Encoding encoding, std::size_t place) {
  const char c = text[place];
  if (encoding == Encoding::url) {
    if (c == '%' && is_escape(text, place))
      return {.value =
                  value_in(kHexValue, text[place + 1]) << 4U | value_in(kHexValue, text[place + 2]),
              .size = 3};
    if (c == '+') return {.value = ' '};  // form encoding
    return {.value = static_cast<unsigned char>(c)};
  }
  if (c == '\\') return {.size = 2};  // "\n" and "\x": the letter is no digit
  if (encoding == Encoding::base64) return {.value = value_in(kBase64Value, c)};
  return is_prefix(text, place) ? Digit{.size = 2} : Digit{.value = value_in(kHexValue, c)};
}

bool may_be_wrapped(std::string_view text, std::size_t line) {
  std::size_t end = line;
  if (end > 0 && text[end - 1] == '\n') --end;
  if (end > 0 && text[end - 1] == '\r') --end;
  const std::size_t begin = past_break(text, end);
  return may_go_on(kBase64, text, end, begin) || may_go_on(kHex, text, end, begin);
}

}  // namespace coop::leaks
