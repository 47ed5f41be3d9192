#include "plan/seccomp/ids.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include "bpf.h"

namespace coop::seccomp {
namespace {

constexpr std::uint32_t kPermitted = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kForeign = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint64_t kUnchanged = 0xffffffff;

std::uint32_t answer(long number, std::initializer_list<std::uint64_t> arguments) {
  seccomp_data call{};
  call.nr = static_cast<int>(number);
  std::ranges::copy(arguments, call.args);
  const auto evaluation = coop::testing::evaluate(ids_filter(1000, 100), call);
  return evaluation ? evaluation->action : 0;
}

TEST(SeccompIdsTest, TheMappedIdsAndMinusOnePass) {
  for (const std::uint64_t uid : {std::uint64_t{1000}, kUnchanged})
    for (const std::uint64_t gid : {std::uint64_t{100}, kUnchanged}) {
      EXPECT_EQ(answer(SYS_fchown, {3, uid, gid}), kPermitted);
      EXPECT_EQ(answer(SYS_fchownat, {3, 0, uid, gid, 0}), kPermitted);
    }
  EXPECT_EQ(answer(SYS_setresuid, {1000, 1000, kUnchanged}), kPermitted);
  EXPECT_EQ(answer(SYS_setgid, {100}), kPermitted);
}

TEST(SeccompIdsTest, EveryOtherIdAnswersEperm) {
  EXPECT_EQ(answer(SYS_fchown, {3, 0, 100}), kForeign);
  EXPECT_EQ(answer(SYS_fchown, {3, 1000, 0}), kForeign);
  EXPECT_EQ(answer(SYS_fchown, {3, 100, 1000}), kForeign);  // not mixed up
  EXPECT_EQ(answer(SYS_fchownat, {3, 0, 0, kUnchanged, 0}), kForeign);
  EXPECT_EQ(answer(SYS_fchownat, {3, 0, kUnchanged, 5, 0}), kForeign);
  EXPECT_EQ(answer(SYS_setuid, {0}), kForeign);
  EXPECT_EQ(answer(SYS_setreuid, {1000, 0}), kForeign);
  EXPECT_EQ(answer(SYS_setresgid, {100, 100, 0}), kForeign);
#ifdef SYS_chown
  EXPECT_EQ(answer(SYS_chown, {1, 0, 0}), kForeign);
  EXPECT_EQ(answer(SYS_lchown, {1, kUnchanged, 0}), kForeign);
  EXPECT_EQ(answer(SYS_chown, {1, 1000, 100}), kPermitted);
#endif
}

TEST(SeccompIdsTest, OtherCallsPass) {
  for (long number = 0; number < 500; ++number) {
    const std::uint32_t action = answer(number, {1000, 1000, 1000, 1000});
    if (action != kPermitted) EXPECT_EQ(action, kForeign) << number;
  }
  EXPECT_EQ(answer(SYS_read, {0, 0, 0}), kPermitted);
  EXPECT_EQ(answer(SYS_openat, {0, 0, 0, 0}), kPermitted);
}

}  // namespace
}  // namespace coop::seccomp
