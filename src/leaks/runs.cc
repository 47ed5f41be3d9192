#include "leaks/runs.h"

#include <algorithm>
#include <array>

namespace coop::leaks {

namespace {

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

constexpr Set set_of(const Table& values) {
  Set set{};
  for (std::size_t c = 0; c < 256; ++c) set[c] = values[c] != kNoDigit;
  return set;
}
constexpr Set kBase64Digits = set_of(kBase64Value);
constexpr Set kHexDigits = set_of(kHexValue);

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
template <typename Digits>
std::size_t end_of_wrapped(std::string_view text, std::size_t end, std::size_t width) {
  while (true) {
    const std::size_t begin = past_break(text, end);
    if (begin == end) return end;
    const std::size_t next = end_of_row<Digits>(text, begin);
    if (next == begin || next - begin > width) return end;
    end = next;
    if (next - begin < width) return end;
  }
}

// How runs of a kind are found, and whether an unwrapped one is worth decoding.
struct Base64Kind {
  using Rows = Base64Rows;
  using Digits = Base64Digits;
  static std::size_t digits_at_end(std::string_view row) { return row.size(); }
  static bool worth_decoding(std::string_view row) { return has_ascii(row); }
};
struct HexKind {
  using Rows = HexRows;
  using Digits = HexDigits;
  static std::size_t digits_at_end(std::string_view row) {
    return row.size() - begin_of(kHexDigits, row, row.size(), 0);
  }
  static bool worth_decoding(std::string_view row) {
    return has_as_many<HexDigits>(row, kLeastHex);
  }
};

// The part of a run that is scanned, from `place` or from its escape there.
std::string_view window_at(std::string_view text, std::size_t place) {
  return text.substr(0, std::min(text.size(), place + kMostRow));
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

template <typename Kind>
Run next_digits(std::string_view text, std::size_t from) {
  typename Kind::Rows rows(text, from);
  for (Row row = rows.next(); row.begin != row.end; row = rows.next()) {
    const std::string_view window = window_at(text, row.begin);
    const std::string_view characters = text.substr(row.begin, row.end - row.begin);
    // Only unseparated digits are wrapped.
    const std::size_t width = Kind::digits_at_end(characters);
    const std::size_t end = width >= Kind::Rows::kLeast
                                ? end_of_wrapped<typename Kind::Digits>(window, row.end, width)
                                : row.end;
    if (end != row.end || end == window.size() || Kind::worth_decoding(characters))
      return slice(text, window, row.begin, end);
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
bool may_go_on(const Set& digits, std::size_t least, std::string_view text, std::size_t end,
               std::size_t begin) {
  const std::size_t width = end - begin_of(digits, text, end, 0);
  if (width < least) return false;
  const std::size_t next = end_of(digits, text, begin);
  return next == text.size() || (next > begin && next - begin <= width);
}

bool is_prefix(std::string_view text, std::size_t place) {
  return text[place] == '0' && place + 1 < text.size() &&
         (text[place + 1] == 'x' || text[place + 1] == 'X');
}

// Sixteen characters; zeros after the end of the text.
Bytes vector_at(std::string_view text, std::size_t place) {
  if (text.size() - place >= kVector) return load(text.data() + place);
  return Block(text, place).part(0);
}

// Reads digits sixteen at a time, up to the first other character.
template <typename Digits>
std::size_t read_values(std::string_view text, Encoding encoding, std::size_t begin,
                        std::size_t end, unsigned char* values) {
  std::size_t count = 0;
  for (std::size_t place = begin; place < end;) {
    const Bytes characters = vector_at(text, place);
    const Bytes read = Digits::values(characters);
    std::memcpy(values + count, &read, sizeof read);
    const auto digits = static_cast<std::size_t>(std::countr_one(first_bits(Digits{}(characters))));
    std::size_t taken = std::min(digits, end - place);
    if (encoding == Encoding::hex && taken > 0 && is_prefix(text, place + taken - 1)) --taken;
    count += taken;
    place += taken;
    if (taken < kVector && place < end) place += digit_at(text, encoding, place).size;
  }
  return count;
}

}  // namespace

Run next_run(std::string_view text, Encoding encoding, std::size_t from) {
  if (encoding == Encoding::url) return next_url(text, from);
  return encoding == Encoding::base64 ? next_digits<Base64Kind>(text, from)
                                      : next_digits<HexKind>(text, from);
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

Digits read_digits(std::string_view text, Encoding encoding, std::size_t begin, std::size_t end,
                   std::vector<unsigned char>& values) {
  if (values.size() < end - begin + kVector) values.resize(end - begin + kVector);
  if (encoding == Encoding::hex)
    return {.count = read_values<HexDigits>(text, encoding, begin, end, values.data())};
  const std::size_t count = read_values<Base64Digits>(text, encoding, begin, end, values.data());
  return {.count = count, .ascii_from = ascii_ways(std::span(values).first(count))};
}

bool may_be_wrapped(std::string_view text, std::size_t line) {
  std::size_t end = line;
  if (end > 0 && text[end - 1] == '\n') --end;
  if (end > 0 && text[end - 1] == '\r') --end;
  const std::size_t begin = past_break(text, end);
  return may_go_on(kBase64Digits, kLeastBase64, text, end, begin) ||
         may_go_on(kHexDigits, kLeastHex, text, end, begin);
}

}  // namespace coop::leaks
