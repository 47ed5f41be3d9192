// Runs and what they decode to are those of a reference that looks at one character after the other.
#include <gtest/gtest.h>

#include <array>

#include "leak_samples.h"
#include "leaks/decode.h"

namespace coop::leaks {
namespace {

constexpr std::string_view kBase64Characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
constexpr std::string_view kHexCharacters = "0123456789abcdefABCDEF";
constexpr std::string_view kHexRunCharacters = "0123456789abcdefABCDEF :,\\xX";

// The reference: one character after the other.

bool is_one_of(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

std::size_t plain_end(std::string_view set, std::string_view text, std::size_t place) {
  while (place < text.size() && is_one_of(set, text[place])) ++place;
  return place;
}

struct Row {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Row> plain_rows(std::string_view set, std::size_t least, std::string_view text,
                            std::size_t from) {
  std::vector<Row> rows;
  for (std::size_t place = from; place < text.size();) {
    const std::size_t end = plain_end(set, text, place);
    if (end - place >= least) rows.push_back({.begin = place, .end = end});
    place = end + 1;
  }
  return rows;
}

std::vector<unsigned char> plain_values(std::string_view text, Encoding encoding, std::size_t begin,
                                        std::size_t end) {
  std::vector<unsigned char> values;
  for (std::size_t place = begin; place < end;) {
    const Digit digit = digit_at(text, encoding, place);
    if (digit.value != kNoDigit) values.push_back(static_cast<unsigned char>(digit.value));
    place += digit.size;
  }
  return values;
}

// Decodes from every digit on and looks at the bytes.
unsigned plain_ways(const std::vector<unsigned char>& values) {
  unsigned ways = 0;
  for (std::size_t first = 0; first + 11 <= values.size(); ++first) {
    bool ascii = true;
    for (std::size_t digit = first; digit < first + 12; digit += 4) {
      const unsigned word = unsigned{values[digit]} << 18U | unsigned{values[digit + 1]} << 12U |
                            unsigned{values[digit + 2]} << 6U;
      ascii = ascii && (word & 0x808080U) == 0;
    }
    if (ascii) ways |= 1U << (first % 4);
  }
  return ways;
}

std::size_t plain_past_break(std::string_view text, std::size_t place) {
  for (const std::string_view mark : {"\r\n", "\n", "\\r\\n", "\\n"}) {
    if (!text.substr(std::min(place, text.size())).starts_with(mark)) continue;
    std::size_t after = place + mark.size();
    for (int indent = 0; indent < 16 && after < text.size(); ++indent, ++after)
      if (text[after] != ' ' && text[after] != '\t') break;
    return after;
  }
  return place;
}

// For texts that are short enough to be no slices.
Run plain_run(std::string_view text, Encoding encoding, std::size_t from) {
  const bool base64 = encoding == Encoding::base64;
  const std::string_view digits = base64 ? kBase64Characters : kHexCharacters;
  const std::size_t least = base64 ? kLeastBase64 : kLeastHex;
  for (const Row& row :
       plain_rows(base64 ? kBase64Characters : kHexRunCharacters, least, text, from)) {
    std::size_t line = row.end;
    while (line > row.begin && is_one_of(digits, text[line - 1])) --line;
    const std::size_t width = row.end - line;
    std::size_t end = row.end;
    for (bool whole = width >= least; whole;) {
      const std::size_t begin = plain_past_break(text, end);
      const std::size_t next = plain_end(digits, text, begin);
      whole = begin != end && next - begin == width;
      if (begin != end && next != begin && next - begin <= width) end = next;
    }
    return {.begin = row.begin, .end = end, .next = end};
  }
  return {.begin = text.size(), .end = text.size(), .next = text.size()};
}

// The bytes that n digits at the front skipped give, bit by bit.
std::string plain_bytes(const std::vector<unsigned char>& values, std::size_t skipped,
                        unsigned bits_of_digit) {
  std::string bits;
  for (std::size_t digit = skipped; digit < values.size(); ++digit)
    for (unsigned bit = bits_of_digit; bit > 0; --bit)
      bits += (values[digit] >> (bit - 1) & 1U) != 0 ? '1' : '0';
  std::string bytes;
  for (std::size_t place = 0; place + 8 <= bits.size(); place += 8)
    bytes += static_cast<char>(std::stoi(bits.substr(place, 8), nullptr, 2));
  return bytes;
}

void expect_same_bytes(std::string_view text, Encoding encoding, const Run& run) {
  const bool base64 = encoding == Encoding::base64;
  const auto values = plain_values(text, encoding, run.begin, run.end);
  const unsigned hex_ways = values.size() < kLeastHex ? 0U : 0b11U;
  const unsigned ways = base64 ? plain_ways(values) : hex_ways;
  std::vector<std::pair<std::size_t, std::string>> expected;
  for (std::size_t skipped = 0; skipped < 4; ++skipped)
    if ((ways >> skipped & 1U) != 0)
      expected.emplace_back(skipped, plain_bytes(values, skipped, base64 ? 6 : 4));
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const Decoding& decoding : decodings_of(text, encoding, run))
    found.emplace_back(decoding.skipped, decoding.bytes);
  ASSERT_EQ(found, expected) << to_text(encoding) << " in " << text;
}

void expect_same(std::string_view text, std::size_t from) {
  for (const Encoding encoding : {Encoding::base64, Encoding::hex}) {
    std::size_t place = from;
    for (Run run{.end = 1}; run.begin != run.end; place = run.next) {
      run = next_run(text, encoding, place);
      ASSERT_EQ(run, plain_run(text, encoding, place))
          << to_text(encoding) << " in " << text << " from " << place;
      if (run.begin != run.end) expect_same_bytes(text, encoding, run);
    }
  }
}

// Rows of every length around the least, at every place, at both ends.
TEST(LeakRunsTest, RowsOfEveryLengthAtEveryPlaceAreFound) {
  SampleSource source(51);
  for (const std::size_t least : {kLeastBase64, kLeastHex})
    for (const std::size_t length :
         {least - 1, least, least + 1, std::size_t{63}, std::size_t{64}, std::size_t{65},
          std::size_t{127}, std::size_t{128}, std::size_t{129}, std::size_t{200}})
      for (std::size_t before = 0; before < 130; ++before)
        for (const std::size_t behind : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
          const std::string row =
              least == kLeastHex ? source.of(kLowerHex, length) : source.of("ABCDEFabcdef", length);
          const std::string text = std::string(before, '.') + row + std::string(behind, '.');
          expect_same(text, 0);
          expect_same(text, std::min(before + 1, text.size()));
        }
}

TEST(LeakRunsTest, EveryCharacterIsTakenForWhatItIs) {
  for (int c = 0; c < 256; ++c)
    for (std::size_t place = 0; place < 80; ++place) {
      std::string text(80, 'a');
      text[place] = static_cast<char>(c);
      expect_same(text, 0);
    }
}

// Texts of pieces that are nearly runs, wrapped or separated or cut.
std::string made_text(SampleSource& source) {
  std::string text;
  for (std::size_t pieces = source.number(12); pieces > 0; --pieces) {
    const std::size_t size = source.number(4) == 0 ? source.number(200) : 20 + source.number(24);
    switch (source.number(9)) {
      case 0: text += source.of(kBase64Characters, size); break;
      case 1: text += source.of("ABCDEFGHabcdef", size); break;
      case 2: text += source.of(kLowerHex, size); break;
      case 3: text += source.of(kHexRunCharacters, size); break;
      case 4: text += hex_of(source.of(kAlphanumeric, size), kLowerHex, "0x", ", "); break;
      case 5: text += hex_of(source.of(kAlphanumeric, size), kLowerHex, "\\x"); break;
      case 6: text += std::string(size, ' '); break;
      case 7: {
        const std::string line = base64_of(source.of(kWordCharacters, size), "-_", "");
        for (std::size_t lines = source.number(4); lines > 0; --lines)
          text += line + (source.number(2) == 0 ? "\n  " : "\\n");
        break;
      }
      default:
        for (std::size_t byte = 0; byte < size; ++byte)
          text += static_cast<char>(source.number(256));
    }
    constexpr std::array<std::string_view, 7> kBetween{"", "", ".", "\n", "\r\n", " ", "\\n"};
    text += kBetween[source.number(kBetween.size())];
  }
  return text;
}

TEST(LeakRunsTest, RandomTextsGiveWhatTheReferenceGives) {
  SampleSource source(52);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = made_text(source);
    expect_same(text, round % 2 == 0 ? 0 : source.number(text.size() + 1));
  }
}

// All slices together cover a run without end, and what is cut by one is whole in the next.
TEST(LeakRunsTest, SlicesOfALongRunOverlap) {
  SampleSource source(53);
  for (const Encoding encoding : {Encoding::base64, Encoding::hex}) {
    const std::string text = "." + source.of(kLowerHex, 700'001) + ".";
    std::size_t covered = 1;
    std::size_t slices = 0;
    for (auto run = next_run(text, encoding, 0); run.begin != run.end; ++slices) {
      EXPECT_LE(run.end - run.begin, kMostRun);
      EXPECT_LE(run.begin + (slices == 0 ? 0 : 65'000), covered);
      covered = run.end;
      run = next_run(text, encoding, run.next);
    }
    EXPECT_EQ(covered, text.size() - 1);
    EXPECT_GE(slices, 4U);
  }
}

}  // namespace
}  // namespace coop::leaks
