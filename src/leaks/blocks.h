// Compares many characters at once: bit n of a block's word is about its nth character. Compares
// sixteen at a time, with the baseline of x86-64 (SSE2) and aarch64 (NEON), so that no run-time
// dispatch is needed.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coop::leaks {

using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
// The result of a comparison: all bits of a byte, or none.
using Mask [[gnu::vector_size(16)]] = signed char;

inline constexpr std::size_t kVector = 16;
inline constexpr std::size_t kBlock = 64;

inline Bytes all_of(char c) { return Bytes{} + static_cast<std::uint8_t>(c); }
inline Bytes lower_case(Bytes c) { return c | all_of(0x20); }  // of letters
inline Mask is(Bytes c, char wanted) { return c == all_of(wanted); }
inline Mask is_within(Bytes c, char first, char last) {
  return c - all_of(first) <= all_of(static_cast<char>(last - first));
}
// `addend` where the mask is set, else zero.
inline Bytes where(Mask mask, std::uint8_t addend) {
  return reinterpret_cast<Bytes>(mask) & all_of(static_cast<char>(addend));
}

// The first bit of each of eight bytes, without vector instructions.
constexpr std::uint64_t first_bits_of(std::uint64_t bytes) {
  // The multiplication moves every byte's bit to its own position in the last byte; sums never
  // carry.
  return ((bytes >> 7U & 0x0101010101010101U) * 0x0102040810204080U) >> 56U;
}

inline std::uint64_t first_bits(Bytes bytes) {
#ifdef __SSE2__
  return static_cast<std::uint16_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(bytes)));
#else
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &bytes, sizeof bytes);
  return first_bits_of(halves[0]) | first_bits_of(halves[1]) << 8U;
#endif
}
inline std::uint64_t first_bits(Mask mask) { return first_bits(reinterpret_cast<Bytes>(mask)); }

inline Bytes load(const char* from) {
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

// Sixty-four characters from `place` on; zeros after the end of the text, which belong to no set.
class Block {
 public:
  Block(std::string_view text, std::size_t place) : from_(text.data() + place) {
    if (text.size() - place >= kBlock) return;
    end_.fill('\0');
    std::memcpy(end_.data(), from_, text.size() - place);
    from_ = end_.data();
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Which characters are in `set`.
  template <typename Set>
  std::uint64_t in(Set set) const {
    return first_bits(set(part(0))) | first_bits(set(part(1))) << 16U |
           first_bits(set(part(2))) << 32U | first_bits(set(part(3))) << 48U;
  }
  Bytes part(std::size_t index) const { return load(from_ + index * kVector); }

 private:
  const char* from_;
  std::array<char, kBlock> end_;
};

// Where runs of at least `least` ones begin.
template <std::size_t least>
constexpr std::uint64_t rows_of(std::uint64_t word) {
  static_assert(least <= kBlock);
  for (std::size_t length = 1; length < least;) {
    const std::size_t more = std::min(length, least - length);
    word &= word >> more;
    length += more;
  }
  return word;
}

}  // namespace coop::leaks
