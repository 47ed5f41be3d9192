// Landlock as of ABI 7 (Linux 6.15). Debian 12's <linux/landlock.h> stops at ABI 2.
#pragma once

#include <cstdint>

namespace coop::abi {

struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4, Linux 6.7
  std::uint64_t scoped;              // ABI 6, Linux 6.12
};

struct [[gnu::packed]] LandlockPathBeneathAttr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

inline constexpr std::uint32_t kLandlockCreateRulesetVersion = 1;
inline constexpr std::uint32_t kLandlockRulePathBeneath = 1;

// ABI 1, Linux 5.13
inline constexpr std::uint64_t kLandlockExecute = 1ULL << 0;
inline constexpr std::uint64_t kLandlockWriteFile = 1ULL << 1;
inline constexpr std::uint64_t kLandlockReadFile = 1ULL << 2;
inline constexpr std::uint64_t kLandlockReadDir = 1ULL << 3;
inline constexpr std::uint64_t kLandlockRemoveDir = 1ULL << 4;
inline constexpr std::uint64_t kLandlockRemoveFile = 1ULL << 5;
inline constexpr std::uint64_t kLandlockMakeChar = 1ULL << 6;
inline constexpr std::uint64_t kLandlockMakeDir = 1ULL << 7;
inline constexpr std::uint64_t kLandlockMakeReg = 1ULL << 8;
inline constexpr std::uint64_t kLandlockMakeSock = 1ULL << 9;
inline constexpr std::uint64_t kLandlockMakeFifo = 1ULL << 10;
inline constexpr std::uint64_t kLandlockMakeBlock = 1ULL << 11;
inline constexpr std::uint64_t kLandlockMakeSym = 1ULL << 12;
inline constexpr std::uint64_t kLandlockRefer = 1ULL << 13;     // ABI 2, Linux 5.19
inline constexpr std::uint64_t kLandlockTruncate = 1ULL << 14;  // ABI 3, Linux 6.2
inline constexpr std::uint64_t kLandlockIoctlDev = 1ULL << 15;  // ABI 5, Linux 6.10

// ABI 6, Linux 6.12
inline constexpr std::uint64_t kLandlockScopeAbstractUnixSocket = 1ULL << 0;
inline constexpr std::uint64_t kLandlockScopeSignal = 1ULL << 1;

}  // namespace coop::abi
