#include "leaks/rows.h"

namespace coop::leaks {

namespace {

std::size_t ones_from(std::uint64_t word) {
  return static_cast<std::size_t>(std::countr_one(word));
}
std::size_t zeros_from(std::uint64_t word) {
  return static_cast<std::size_t>(std::countr_zero(word));
}

constexpr std::array<bool, 256> kHexRun = [] {
  std::array<bool, 256> set{};
  for (const char c : std::string_view("0123456789abcdefABCDEF :,\\xX"))
    set[static_cast<unsigned char>(c)] = true;
  return set;
}();
bool is_in_hex_run(char c) { return kHexRun[static_cast<unsigned char>(c)]; }

// Whether a row of HexRows::kLeast characters may cover `place`: half of them are before or after
// it. A few branch-free tests avoid the search for the ends of most words.
bool may_cover(std::string_view text, std::size_t place) {
  constexpr std::size_t kStep = HexRows::kLeast / 8;
  if (place < 4 * kStep || place + 4 * kStep >= text.size()) return is_in_hex_run(text[place]);
  const auto at = [&](std::size_t index) { return unsigned{is_in_hex_run(text[index])}; };
  const unsigned before =
      at(place - kStep) & at(place - 2 * kStep) & at(place - 3 * kStep) & at(place - 4 * kStep);
  const unsigned behind =
      at(place + kStep) & at(place + 2 * kStep) & at(place + 3 * kStep) & at(place + 4 * kStep);
  return (at(place) & (before | behind)) != 0;
}

// Nine bytes are three groups of four digits; the last digit does not hold the first bit of a byte.
constexpr std::size_t kDigits = 11;
// Blocks overlap by the lookahead of a start position, and start at the same digit of each four.
constexpr std::size_t kBlockStep = kBlock - 12;
static_assert(kBlockStep % 4 == 0 && kBlockStep + kDigits <= kBlock + 1);

// Digits with a value below 32.
struct LowBase64Digits {
  Mask operator()(Bytes c) const { return is_within(c, 'A', 'Z') | is_within(c, 'a', 'f'); }
};

// Positions in a block where nine ASCII bytes can start: the first bit of each is zero. Those bits
// are in the first, second and third of each four digits, at different bit positions.
template <typename Values>
std::uint64_t ascii_from(const Block& block, std::size_t size, Values values) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (std::size_t part = 0; part * kVector < std::min(size, kBlock); ++part) {
    const auto times_four = [](Bytes bytes) {
      const Bytes twice = bytes + bytes;
      return twice + twice;
    };
    const Bytes bit_5 = times_four(values(block.part(part)));
    const Bytes bit_3 = times_four(bit_5);
    const Bytes bit_1 = times_four(bit_3);
    first |= first_bits(bit_5) << part * kVector;
    second |= first_bits(bit_3) << part * kVector;
    third |= first_bits(bit_1) << part * kVector;
  }
  const std::uint64_t three = ~(first | second >> 1U | third >> 2U);
  const std::uint64_t nine = three & three >> 4U & three >> 8U;
  const std::size_t beginnings = std::min(size - kDigits + 1, kBlockStep);
  return nine & ((std::uint64_t{1} << beginnings) - 1);
}

}  // namespace

Base64Rows::Base64Rows(std::string_view text, std::size_t from) : text_(text), place_(from) {
  load();
}

void Base64Rows::load() {
  word_ = place_ < text_.size() ? Block(text_, place_).in(Base64Digits{}) : 0;
}

// The row that starts at `begin` and continues from this bit of the block.
Row Base64Rows::row_from(std::size_t begin, std::size_t bit) {
  std::size_t after = bit + ones_from(word_ >> bit);
  while (after == kBlock && place_ < begin + kMostRow) {
    place_ += kBlock;
    load();
    after = ones_from(word_);
  }
  const std::size_t end = std::min(place_ + after, begin + kMostRow);
  word_ = after < kBlock ? word_ & ~std::uint64_t{0} << after : 0;
  return {.begin = begin, .end = end};
}

Row Base64Rows::next() {
  while (place_ < text_.size()) {
    if (const std::uint64_t rows = rows_of<kLeast>(word_); rows != 0) {
      const std::size_t bit = zeros_from(rows);
      return row_from(place_ + bit, bit);
    }
    const auto before = static_cast<std::size_t>(std::countl_one(word_));
    place_ += kBlock;
    load();
    if (before + ones_from(word_) >= kLeast) return row_from(place_ - before, 0);
  }
  return {.begin = text_.size(), .end = text_.size()};
}

// A row of `kLeast` characters covers every `kLeast`-th position.
Row HexRows::next() {
  for (std::size_t probe = from_ + kLeast - 1; probe < text_.size();) {
    if (!may_cover(text_, probe)) {
      from_ = probe + 1;
      probe += kLeast;
      continue;
    }
    std::size_t begin = probe;
    while (begin > from_ && is_in_hex_run(text_[begin - 1])) --begin;
    // Most rows are short; loading a block would cost more.
    from_ = probe;
    while (from_ < text_.size() && from_ - begin < kLeast && is_in_hex_run(text_[from_])) ++from_;
    if (from_ - begin >= kLeast) {
      const std::size_t most = std::min(text_.size(), begin + kMostRow);
      from_ = end_of_row<HexRun>(text_.substr(0, most), from_);
      return {.begin = begin, .end = from_};
    }
    probe = from_ + kLeast;
  }
  return {.begin = text_.size(), .end = text_.size()};
}

bool has_ascii(std::string_view row) {
  for (std::size_t place = 0; place + kDigits <= row.size(); place += kBlockStep) {
    const Block block(row, place);
    // Most words are rejected here: every three bytes begin with a digit whose first bit is zero.
    const std::uint64_t low = block.in(LowBase64Digits{});
    if ((low & low >> 4U & low >> 8U) == 0) continue;
    if (ascii_from(block, row.size() - place, Base64Digits::values) != 0) return true;
  }
  return false;
}

unsigned ascii_ways(std::span<const unsigned char> values) {
  constexpr std::uint64_t kEveryFourth = 0x1111111111111111U;
  const std::string_view row(reinterpret_cast<const char*>(values.data()), values.size());
  const auto same = [](Bytes value) { return value; };
  unsigned ways = 0;
  for (std::size_t place = 0; place + kDigits <= row.size() && ways != 0b1111U;
       place += kBlockStep) {
    const std::uint64_t from = ascii_from(Block(row, place), row.size() - place, same);
    for (unsigned way = 0; way < 4; ++way)
      if ((from & kEveryFourth << way) != 0) ways |= 1U << way;
  }
  return ways;
}

}  // namespace coop::leaks
