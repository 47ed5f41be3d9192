#include "tools/leak_runs.h"

#include <algorithm>
#include <array>

namespace coop::tools {

namespace {

constexpr std::size_t kSlice = 200'000;
constexpr std::size_t kOverlap = 66'000;

using Table = std::array<std::uint16_t, 256>;

constexpr Table kBase64Value = [] {
  Table table{};
  table.fill(kNoDigit);
  std::uint16_t value = 0;
  for (const char c :
       std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
    table[static_cast<unsigned char>(c)] = value++;
  table['-'] = 62;
  table['_'] = 63;
  return table;
}();

constexpr Table kHexValue = [] {
  Table table{};
  table.fill(kNoDigit);
  for (std::uint16_t digit = 0; digit < 10; ++digit)
    table[static_cast<std::size_t>('0' + digit)] = digit;
  for (std::uint16_t digit = 0; digit < 6; ++digit) {
    const auto value = static_cast<std::uint16_t>(10 + digit);
    table[static_cast<std::size_t>('a' + digit)] = value;
    table[static_cast<std::size_t>('A' + digit)] = value;
  }
  return table;
}();

using Set = std::array<bool, 256>;

constexpr Set kBase64Run = [] {
  Set set{};
  for (std::size_t c = 0; c < 256; ++c) set[c] = kBase64Value[c] != kNoDigit;
  return set;
}();

// Digits and what may stand between them on a line: "73 6b", "73:6b", "0x73, 0x6b", "\x73\x6b".
constexpr Set kHexRun = [] {
  Set set{};
  for (std::size_t c = 0; c < 256; ++c) set[c] = kHexValue[c] != kNoDigit;
  for (const char c : std::string_view(" :,\\xX")) set[static_cast<unsigned char>(c)] = true;
  return set;
}();

// A word: all that is printed but quotes, brackets and the backslash.
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

// Past a line break as it is, or as it is written in JSON and in source code, and the next line's
// indentation; `place` itself when there is none.
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

// Wrapped base64 and `xxd -p`: lines of one length, only the last is shorter. Anything else that
// follows in the next line is another thing: names in a listing are not one blob.
std::size_t end_of_wrapped(const Set& set, std::string_view text, std::size_t end,
                           std::size_t width) {
  while (true) {
    const std::size_t begin = past_break(text, end);
    if (begin == end) return end;
    const std::size_t next = end_of(set, text, begin);
    if (next == begin || next - begin > width) return end;
    end = next;
    if (next - begin < width) return end;
  }
}

constexpr Set kHexDigits = [] {
  Set set{};
  for (std::size_t c = 0; c < 256; ++c) set[c] = kHexValue[c] != kNoDigit;
  return set;
}();

// Finds, digit by digit of base64, where the bytes can be ASCII. Every secret that a pattern describes
// has nine such bytes in a row at least, and most words that only look like base64 have not.
class AsciiFilter {
 public:
  void add(unsigned value) { add_bits(bits_of(value)); }
  static constexpr unsigned bits_of(unsigned value) {
    return (value >> 5U & 1U) | (value >> 2U & 2U) | (value << 1U & 4U);
  }
  void add_bits(unsigned bits) {
    // Bit n: no three ASCII bytes begin with the digit that is n digits back. The first bits of three
    // bytes are in the first, second and third of their four digits.
    not_ascii_ = not_ascii_ << 1U | bits;
    // Nine in a row begin ten digits before this one.
    if ((not_ascii_ & 0x444U) == 0) ways_ |= 1U << ((count_ + 2) % 4);
    ++count_;
  }
  unsigned ways() const { return ways_; }  // bit n: when n digits are left out at the front

 private:
  unsigned not_ascii_ = ~0U;
  unsigned count_ = 0;
  unsigned ways_ = 0;
};

// For each character what the filter takes, in one look.
constexpr std::uint8_t kEndsRun = 0x80;
constexpr std::array<std::uint8_t, 256> kFilterBits = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < 256; ++c)
    table[c] =
        kBase64Run[c] ? static_cast<std::uint8_t>(AsciiFilter::bits_of(kBase64Value[c])) : kEndsRun;
  return table;
}();

struct Kind {
  const Set& run;
  const Set& digits;
  std::size_t least;
};
constexpr Kind kBase64{.run = kBase64Run, .digits = kBase64Run, .least = kLeastBase64};
constexpr Kind kHex{.run = kHexRun, .digits = kHexDigits, .least = kLeastHex};

// What is looked at of a run that covers `place`.
std::string_view window_at(std::string_view text, std::size_t place) {
  return text.substr(0, std::min(text.size(), place + kSlice));
}

// A run that reaches the end of its window is gone on with a little before that.
Run slice(std::string_view text, std::string_view window, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMostBreak = 32;
  if (window.size() == text.size() || end + kMostBreak < window.size())
    return {.begin = begin, .end = end, .next = end};
  std::size_t next = end - kOverlap;
  // Never inside an escape: "%2F", "\\n".
  for (int back = 0; back < 2 && text[next - 1] != '%'; ++back) --next;
  return {.begin = begin, .end = end, .next = text[next - 1] == '\\' ? next - 1 : next};
}

// Whether `least` characters in a row may cover `place`: half of them are before or behind it. A few
// looks without a branch spare most words the search for their ends.
bool may_cover(const Kind& kind, std::string_view text, std::size_t place) {
  const std::size_t step = kind.least / 8;
  if (place < 4 * step || place + 4 * step >= text.size()) return is_in(kind.run, text[place]);
  const auto at = [&](std::size_t index) { return unsigned{is_in(kind.run, text[index])}; };
  const unsigned before =
      at(place - step) & at(place - 2 * step) & at(place - 3 * step) & at(place - 4 * step);
  const unsigned behind =
      at(place + step) & at(place + 2 * step) & at(place + 3 * step) & at(place + 4 * step);
  return (at(place) & (before | behind)) != 0;
}

// A run of `least` characters covers every `least`-th place: most of the text is never looked at.
Run next_digits(std::string_view text, const Kind& kind, std::size_t from) {
  for (std::size_t probe = from + kind.least - 1; probe < text.size();) {
    if (!may_cover(kind, text, probe)) {
      from = probe + 1;
      probe += kind.least;
      continue;
    }
    const std::string_view window = window_at(text, probe);
    const std::size_t begin = begin_of(kind.run, text, probe, from);
    unsigned ways = 1;
    std::size_t end = begin;
    if (kind.least == kLeastBase64) {
      AsciiFilter filter;
      for (; end < window.size(); ++end) {
        const std::uint8_t bits = kFilterBits[static_cast<unsigned char>(window[end])];
        if (bits == kEndsRun) break;
        filter.add_bits(bits);
      }
      ways = filter.ways();
    } else {
      end = end_of(kind.run, window, probe);
    }
    if (end - begin >= kind.least) {
      // Only unseparated digits are wrapped.
      const std::size_t line = begin_of(kind.digits, text, end, begin);
      const std::size_t last =
          end - line >= kind.least ? end_of_wrapped(kind.digits, window, end, end - line) : end;
      if (ways != 0 || last != end || end == window.size()) return slice(text, window, begin, last);
    }
    from = end;
    probe = end + kind.least;
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

// Whether lines of this kind of digits may be one run over the break between `end` and `begin`.
bool may_go_on(const Set& digits, std::size_t least, std::string_view text, std::size_t end,
               std::size_t begin) {
  const std::size_t width = end - begin_of(digits, text, end, 0);
  if (width < least) return false;
  const std::size_t next = end_of(digits, text, begin);
  return next == text.size() || (next > begin && next - begin <= width);
}

}  // namespace

Run next_run(std::string_view text, Encoding encoding, std::size_t from) {
  if (encoding == Encoding::url) return next_url(text, from);
  return next_digits(text, encoding == Encoding::base64 ? kBase64 : kHex, from);
}

Digit digit_at(std::string_view text, Encoding encoding, std::size_t place) {
  const char c = text[place];
  if (encoding == Encoding::url) {
    if (c == '%' && is_escape(text, place))
      return {.value =
                  value_in(kHexValue, text[place + 1]) << 4U | value_in(kHexValue, text[place + 2]),
              .size = 3};
    if (c == '+') return {.value = ' '};  // as forms write it
    return {.value = static_cast<unsigned char>(c)};
  }
  if (c == '\\') return {.size = 2};  // "\n" and "\x": the letter is no digit
  if (encoding == Encoding::base64) return {.value = value_in(kBase64Value, c)};
  const bool prefix =
      c == '0' && place + 1 < text.size() && (text[place + 1] == 'x' || text[place + 1] == 'X');
  return prefix ? Digit{.size = 2} : Digit{.value = value_in(kHexValue, c)};
}

Digits read_digits(std::string_view text, Encoding encoding, std::size_t begin, std::size_t end,
                   std::vector<unsigned char>& values) {
  if (values.size() < end - begin) values.resize(end - begin);
  const Table& table = encoding == Encoding::base64 ? kBase64Value : kHexValue;
  Digits digits{};
  AsciiFilter filter;
  for (std::size_t place = begin; place < end;) {
    unsigned value = value_in(table, text[place]);
    std::size_t size = 1;
    if (value >= 64 || (encoding == Encoding::hex && value == 0)) {
      const Digit digit = digit_at(text, encoding, place);
      value = digit.value;
      size = digit.size;
    }
    place += size;
    if (value == kNoDigit) continue;
    filter.add(value);
    values[digits.count++] = static_cast<unsigned char>(value);
  }
  digits.ascii_from = filter.ways();
  return digits;
}

bool may_be_wrapped(std::string_view text, std::size_t line) {
  std::size_t end = line;
  if (end > 0 && text[end - 1] == '\n') --end;
  if (end > 0 && text[end - 1] == '\r') --end;
  const std::size_t begin = past_break(text, end);
  return may_go_on(kBase64Run, kLeastBase64, text, end, begin) ||
         may_go_on(kHexDigits, kLeastHex, text, end, begin);
}

}  // namespace coop::tools
