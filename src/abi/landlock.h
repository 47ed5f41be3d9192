// What Landlock has up to ABI 7 (Linux 6.15) and Debian 12's <linux/landlock.h>, which stops at ABI 2, has not.
#pragma once

#include <cstdint>

namespace coop::abi {

struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4, Linux 6.7
  std::uint64_t scoped;              // ABI 6, Linux 6.12
};

inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;  // ABI 3, Linux 6.2
inline constexpr std::uint64_t kLandlockIoctlDev = 1ULL << 15;  // ABI 5, Linux 6.10

// ABI 6, Linux 6.12
inline constexpr std::uint64_t kLandlockScopeAbstractUnixSocket = 1ULL << 0;
inline constexpr std::uint64_t kLandlockScopeSignal = 1ULL << 1;

}  // namespace coop::abi
