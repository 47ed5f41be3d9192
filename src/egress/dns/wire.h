// Constants and byte order of DNS messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coop::egress {

inline constexpr std::size_t kDnsHead = 12;
inline constexpr std::uint16_t kDnsInternet = 1;  // class IN

// Bits of the header's second 16-bit word.
inline constexpr unsigned kDnsIsAnswer = 0x8000;
inline constexpr unsigned kDnsOpcode = 0x7800;
inline constexpr unsigned kDnsTruncated = 0x0200;
inline constexpr unsigned kDnsRecursionDesired = 0x0100;
inline constexpr unsigned kDnsRecursionAvailable = 0x0080;
inline constexpr unsigned kDnsCode = 0x000f;

// The caller has checked that there are two bytes.
inline std::uint16_t word_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

inline void put_word(std::string& bytes, unsigned value) {
  bytes += static_cast<char>(value >> 8U & 0xffU);
  bytes += static_cast<char>(value & 0xffU);
}

}  // namespace coop::egress
