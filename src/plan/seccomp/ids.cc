#include "plan/seccomp/ids.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace coop::seccomp {

namespace {

enum class Id : std::uint8_t { none, uid, gid };

// Which arguments are ids. Numbers of this architecture: the profile kills every other one.
struct Call {
  long number;
  std::array<Id, 4> arguments;
};

constexpr std::array kCalls{
#ifdef SYS_chown
    Call{SYS_chown, {Id::none, Id::uid, Id::gid}},
    Call{SYS_lchown, {Id::none, Id::uid, Id::gid}},
#endif
    Call{SYS_fchown, {Id::none, Id::uid, Id::gid}},
    Call{SYS_fchownat, {Id::none, Id::none, Id::uid, Id::gid}},
    Call{SYS_setuid, {Id::uid}},
    Call{SYS_setgid, {Id::gid}},
    Call{SYS_setreuid, {Id::uid, Id::uid}},
    Call{SYS_setregid, {Id::gid, Id::gid}},
    Call{SYS_setresuid, {Id::uid, Id::uid, Id::uid}},
    Call{SYS_setresgid, {Id::gid, Id::gid, Id::gid}},
};

constexpr std::uint32_t kUnchanged = 0xffffffff;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter skip_if_equal(std::uint32_t value, std::uint8_t count) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0);
}

// The kernel takes the lower 32 bits of each; both architectures are little-endian.
void check(std::vector<sock_filter>& block, std::size_t argument, std::uint32_t mapped) {
  block.push_back(load(offsetof(seccomp_data, args) + 8 * argument));
  block.push_back(skip_if_equal(mapped, 2));
  block.push_back(skip_if_equal(kUnchanged, 1));
  block.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
}

}  // namespace

std::vector<sock_filter> ids_filter(std::uint32_t uid, std::uint32_t gid) {
  std::vector<sock_filter> filter;
  for (const Call& call : kCalls) {
    std::vector<sock_filter> block;
    for (std::size_t argument = 0; argument < call.arguments.size(); ++argument)
      if (call.arguments[argument] != Id::none)
        check(block, argument, call.arguments[argument] == Id::uid ? uid : gid);
    block.push_back(answer(SECCOMP_RET_ALLOW));
    filter.push_back(load(offsetof(seccomp_data, nr)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call.number), 0,
                              static_cast<std::uint8_t>(block.size())));
    filter.insert(filter.end(), block.begin(), block.end());
  }
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace coop::seccomp
