// Evaluates the shipped filters on made-up system calls; no kernel takes part.
#include "plan/seccomp/profile.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf.h"

namespace coop::seccomp {
namespace {

using ::coop::testing::evaluate;
using ::coop::testing::Evaluation;

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t kNotify = SECCOMP_RET_USER_NOTIF;
constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kEnosys = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kEafnosupport = SECCOMP_RET_ERRNO | EAFNOSUPPORT;
constexpr std::uint32_t kEprotonosupport = SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
constexpr std::uint32_t kRefused = 0x12345678;  // the kernel would not take the program

constexpr std::uint64_t kHighBit = std::uint64_t{1} << 32;
constexpr std::uint32_t kX32 = 0x40000000;
#if defined(__x86_64__)
constexpr std::uint32_t kThisMachine = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kThisMachine = AUDIT_ARCH_AARCH64;
#endif

using Arguments = std::initializer_list<std::uint64_t>;

std::uint32_t run(const Profile* profile, std::uint32_t machine, long number, Arguments arguments) {
  seccomp_data call{};
  call.nr = static_cast<int>(number);
  call.arch = machine;
  std::ranges::copy(arguments, call.args);
  const std::optional<Evaluation> evaluation = evaluate(profile->program, call);
  return evaluation ? evaluation->action : kRefused;
}

// Most of what is promised holds in both profiles.
class SeccompTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::uint32_t answer(long number, Arguments arguments = {}) const {
    return run(find(GetParam()), kThisMachine, number, arguments);
  }
  void expect_all(std::uint32_t action, const std::vector<long>& calls) const {
    for (const long number : calls) EXPECT_EQ(answer(number), action) << number;
  }
};

INSTANTIATE_TEST_SUITE_P(Profiles, SeccompTest,
                         ::testing::Values("default", "no-debug", "mptcp", "mptcp-no-debug"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase(text, '-');
                           return text;
                         });

TEST(SeccompProfileTest, OnlyTheShippedProfilesAreFound) {
  ASSERT_NE(find("default"), nullptr);
  ASSERT_NE(find("no-debug"), nullptr);
  EXPECT_EQ(find("default")->name, "default");
  EXPECT_EQ(find("no-debug")->name, "no-debug");
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(find("Default"), nullptr);
}

TEST(SeccompProfileTest, DebuggingIsAllowedByDefaultAndDeniedInNoDebug) {
  const std::vector<long> calls{SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
                                SYS_pidfd_getfd};
  for (const long number : calls) {
    EXPECT_EQ(run(find("default"), kThisMachine, number, {}), kAllow) << number;
    EXPECT_EQ(run(find("no-debug"), kThisMachine, number, {}), kEperm) << number;
  }
}

TEST(SeccompProfileTest, TheProfilesDifferInDebuggingOnly) {
  std::vector<long> different;
  for (long number = 0; number < 1024; ++number)
    if (run(find("default"), kThisMachine, number, {}) !=
        run(find("no-debug"), kThisMachine, number, {}))
      different.push_back(number);
  std::vector<long> expected{SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
                             SYS_pidfd_getfd};
  std::ranges::sort(expected);
  EXPECT_EQ(different, expected);
}

// A lease on a file of one's own needs no write access, and stops those who open it outside.
TEST_P(SeccompTest, LeasesAreRefused) {
  EXPECT_EQ(answer(SYS_fcntl, {3, F_SETLEASE, F_RDLCK}), kEperm);
  EXPECT_EQ(answer(SYS_fcntl, {3, (std::uint64_t{1} << 32) | F_SETLEASE, F_WRLCK}), kEperm);
  for (const int command : {F_GETFD, F_SETLK, F_SETFL, F_DUPFD_CLOEXEC, F_GETLEASE})
    EXPECT_EQ(answer(SYS_fcntl, {3, static_cast<std::uint64_t>(command), 0}), kAllow) << command;
}

TEST(SeccompProfileTest, TheProfilesWithMptcpDifferInThatOnly) {
  for (const auto& [with, without] :
       {std::pair("mptcp", "default"), std::pair("mptcp-no-debug", "no-debug")}) {
    ASSERT_NE(find(with), nullptr);
    for (long number = 0; number < 1024; ++number)
      EXPECT_EQ(run(find(with), kThisMachine, number, {}),
                run(find(without), kThisMachine, number, {}))
          << number;
    constexpr std::uint64_t kMptcp = 262;
    EXPECT_EQ(run(find(with), kThisMachine, SYS_socket, {AF_INET, SOCK_STREAM, kMptcp}), kAllow);
    EXPECT_EQ(run(find(without), kThisMachine, SYS_socket, {AF_INET, SOCK_STREAM, kMptcp}),
              kEprotonosupport);
  }
}

TEST_P(SeccompTest, TheKernelWouldTakeTheProgram) {
  for (const Machine machine : {Machine::x86_64, Machine::aarch64}) {
    const Profile* profile = find(GetParam(), machine);
    EXPECT_LE(profile->program.size(), std::size_t{BPF_MAXINSNS});
    for (std::size_t index = 0; index < profile->program.size(); ++index) {
      const sock_filter& one = profile->program[index];
      if (BPF_CLASS(one.code) != BPF_JMP) continue;
      const std::size_t longest =
          one.code == (BPF_JMP | BPF_JA) ? std::size_t{one.k} : std::max(one.jt, one.jf);
      EXPECT_LT(index + 1 + longest, profile->program.size()) << "jump at " << index;
    }
    EXPECT_EQ(BPF_CLASS(profile->program.back().code), BPF_RET);
  }
}

TEST_P(SeccompTest, NoReturnIsLeftThatStoodForSomethingElse) {
  for (const Machine machine : {Machine::x86_64, Machine::aarch64})
    for (const sock_filter& one : find(GetParam(), machine)->program)
      if (BPF_CLASS(one.code) == BPF_RET) {
        const std::uint32_t action = one.k;
        EXPECT_TRUE(action == kAllow || action == kKill || action == kNotify || action == kEperm ||
                    action == kEnosys || action == kEafnosupport || action == kEprotonosupport)
            << action;
      }
}

TEST_P(SeccompTest, UnlistedCallsAnswerEnosysSoThatLibcFallsBack) {
  for (long number = 467; number < 2048; ++number) EXPECT_EQ(answer(number), kEnosys) << number;
  EXPECT_EQ(answer(-1), kEnosys);
  EXPECT_EQ(answer(451), kEnosys) << "cachestat";
  EXPECT_EQ(answer(453), kEnosys) << "map_shadow_stack";
  for (long number = 457; number < 462; ++number) EXPECT_EQ(answer(number), kEnosys) << number;
  for (long number = 463; number < 467; ++number) EXPECT_EQ(answer(number), kEnosys) << number;
}

TEST_P(SeccompTest, NoCallMakesASetUserIdOrSetGroupIdFile) {
  constexpr std::uint64_t kDirectory = 0xffffff9c;
  constexpr long kFchmodat2 = 452;
  for (const std::uint64_t mode : {04755ULL, 02755ULL, 06755ULL}) {
    // Set-group-id alone is for directories: the supervisor looks what it is.
    const std::uint32_t changed = mode == 02755 ? kNotify : kEperm;
    EXPECT_EQ(answer(SYS_fchmod, {3, mode}), changed);
    EXPECT_EQ(answer(SYS_fchmod, {3, kHighBit | mode}), changed);
    EXPECT_EQ(answer(SYS_fchmodat, {kDirectory, 0, mode}), changed);
    EXPECT_EQ(answer(kFchmodat2, {kDirectory, 0, mode, 0x100}), changed);
    EXPECT_EQ(answer(SYS_mkdirat, {kDirectory, 0, mode}), kAllow) << "the kernel drops both bits";
    EXPECT_EQ(answer(SYS_openat, {kDirectory, 0, O_CREAT | O_WRONLY, mode}), kEperm);
    EXPECT_EQ(answer(SYS_openat, {kDirectory, 0, O_TMPFILE | O_RDWR, mode}), kEperm);
    EXPECT_EQ(answer(SYS_mknodat, {kDirectory, 0, 0100000 | mode}), kEperm);
#if defined(__x86_64__)
    EXPECT_EQ(answer(SYS_chmod, {0, mode}), changed);
    EXPECT_EQ(answer(SYS_open, {0, O_CREAT, mode}), kEperm);
    EXPECT_EQ(answer(SYS_creat, {0, mode}), kEperm);
    EXPECT_EQ(answer(SYS_mknod, {0, 0100000 | mode}), kEperm);
#endif
    // Without O_CREAT the mode means nothing, and callers leave anything there.
    EXPECT_EQ(answer(SYS_openat, {kDirectory, 0, O_RDONLY, mode}), kAllow);
  }
  EXPECT_EQ(answer(SYS_fchmod, {3, 01777}), kAllow) << "control";
  EXPECT_EQ(answer(kFchmodat2, {kDirectory, 0, 01777}), kAllow) << "control";
  EXPECT_EQ(answer(SYS_openat, {kDirectory, 0, O_CREAT, 0644}), kAllow) << "control";
  EXPECT_EQ(answer(SYS_openat2), kEnosys) << "its mode lies in memory";
}

TEST_P(SeccompTest, HarmlessCallsYoungerThanLibseccompAreAllowed) {
  EXPECT_EQ(answer(454), kAllow) << "futex_wake";
  EXPECT_EQ(answer(455), kAllow) << "futex_wait";
  EXPECT_EQ(answer(456), kAllow) << "futex_requeue";
  EXPECT_EQ(answer(462), kAllow) << "mseal";
}

TEST_P(SeccompTest, ForeignMachinesKill) {
  for (const std::uint32_t machine :
       std::initializer_list<std::uint32_t>{AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64LE, 0})
    for (long number = 0; number < 512; ++number)
      EXPECT_EQ(run(find(GetParam()), machine, number, {}), kKill) << number;
  EXPECT_EQ(run(find(GetParam(), Machine::x86_64), AUDIT_ARCH_AARCH64, 0, {}), kKill);
  EXPECT_EQ(run(find(GetParam(), Machine::aarch64), AUDIT_ARCH_X86_64, 0, {}), kKill);
}

TEST_P(SeccompTest, EveryX32CallKills) {
  const Profile* profile = find(GetParam(), Machine::x86_64);
  for (std::uint32_t number = 0; number < 1024; ++number)
    EXPECT_EQ(run(profile, AUDIT_ARCH_X86_64, kX32 | number, {}), kKill) << number;
  EXPECT_EQ(run(profile, AUDIT_ARCH_X86_64, 0xfffffffeL, {}), kKill);
  EXPECT_EQ(run(profile, AUDIT_ARCH_X86_64, 0x3fffffff, {}), kEnosys);
}

TEST_P(SeccompTest, WhatTheFilterCouldNotSeeIsMissing) {
  expect_all(kEnosys, {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_clone3,
                       SYS_io_setup});
}

TEST_P(SeccompTest, CloneMakesThreadsAndProcessesButNoNamespaces) {
  constexpr std::uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                   CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  EXPECT_EQ(answer(SYS_clone, {thread}), kAllow);
  EXPECT_EQ(answer(SYS_clone, {CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | 17}), kAllow);
  EXPECT_EQ(answer(SYS_clone, {CLONE_VM | CLONE_VFORK | CLONE_PIDFD | 17}), kAllow);
  EXPECT_EQ(answer(SYS_clone, {0xff}), kAllow) << "the exit signal, not CLONE_NEWTIME";
  for (const std::uint64_t flag :
       Arguments{CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                 CLONE_NEWPID, CLONE_NEWNET}) {
    EXPECT_EQ(answer(SYS_clone, {flag}), kEperm) << flag;
    EXPECT_EQ(answer(SYS_clone, {flag | 17}), kEperm) << flag;
    EXPECT_EQ(answer(SYS_clone, {kHighBit | flag}), kEperm) << flag;
  }
}

TEST_P(SeccompTest, NamespacesAndMountsAreDenied) {
  expect_all(kEperm, {SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
                      SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount,
                      SYS_fspick, SYS_mount_setattr, SYS_sethostname, SYS_setdomainname});
}

TEST_P(SeccompTest, AdministeringTheMachineIsDenied) {
  // clang-format off
  expect_all(kEperm, {
      SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_keyctl, SYS_add_key, SYS_request_key,
      SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_init_module, SYS_finit_module,
      SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_swapoff,
      SYS_acct, SYS_quotactl, SYS_quotactl_fd, SYS_settimeofday, SYS_clock_settime,
      SYS_clock_adjtime, SYS_adjtimex, SYS_syslog, SYS_vhangup, SYS_fanotify_init,
      SYS_fanotify_mark, SYS_lookup_dcookie, SYS_nfsservctl});
  // clang-format on
#if defined(__x86_64__)
  expect_all(kEperm, {SYS_iopl, SYS_ioperm, SYS_modify_ldt});
#endif
}

TEST_P(SeccompTest, IoctlsThatTypeIntoTerminalsAreDeniedWhateverTheirHighBits) {
  for (const std::uint64_t request : Arguments{TIOCSTI, TIOCLINUX, TIOCSETD}) {
    EXPECT_EQ(answer(SYS_ioctl, {0, request}), kEperm) << request;
    EXPECT_EQ(answer(SYS_ioctl, {0, kHighBit | request}), kEperm) << request;
    EXPECT_EQ(answer(SYS_ioctl, {0, 0xffffffff00000000 | request}), kEperm) << request;
    EXPECT_EQ(answer(SYS_ioctl, {~std::uint64_t{0}, request, ~std::uint64_t{0}}), kEperm)
        << request;
  }
}

TEST_P(SeccompTest, AllOtherIoctlsAreAllowed) {
  for (std::uint64_t request = 0x5400; request < 0x5480; ++request)
    if (request != TIOCSTI && request != TIOCLINUX && request != TIOCSETD) {
      EXPECT_EQ(answer(SYS_ioctl, {0, request}), kAllow) << request;
    }
  EXPECT_EQ(answer(SYS_ioctl, {TIOCSTI, TCGETS, TIOCSTI}), kAllow);
  EXPECT_EQ(answer(SYS_ioctl, {0, 0x10000 | TIOCSTI}), kAllow);
  EXPECT_EQ(answer(SYS_ioctl, {0, 0}), kAllow);
  EXPECT_EQ(answer(SYS_ioctl, {0, 0xffffffff}), kAllow);
}

TEST_P(SeccompTest, LocalAndInternetSocketsAreAllowedUnlessRaw) {
  for (const std::uint64_t type : Arguments{SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    EXPECT_EQ(answer(SYS_socket, {AF_UNIX, type}), kAllow) << type;
    EXPECT_EQ(answer(SYS_socket, {AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK}), kAllow) << type;
  }
  for (const std::uint64_t family : Arguments{AF_INET, AF_INET6}) {
    constexpr std::uint64_t flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    for (const std::uint64_t protocol : Arguments{0, IPPROTO_TCP})
      EXPECT_EQ(answer(SYS_socket, {family, SOCK_STREAM | flags, kHighBit | protocol}), kAllow);
    for (const std::uint64_t protocol : Arguments{0, IPPROTO_UDP})
      EXPECT_EQ(answer(SYS_socket, {family, SOCK_DGRAM | flags, kHighBit | protocol}), kAllow);
  }
  for (const std::uint64_t family : Arguments{AF_UNIX, AF_INET, AF_INET6})
    for (const std::uint64_t type : Arguments{SOCK_RAW, SOCK_PACKET}) {
      EXPECT_EQ(answer(SYS_socket, {family, type}), kEafnosupport) << family << ' ' << type;
      EXPECT_EQ(answer(SYS_socket, {family, type | SOCK_CLOEXEC, 1}), kEafnosupport);
      EXPECT_EQ(answer(SYS_socket, {kHighBit | family, kHighBit | type}), kEafnosupport);
    }
}

// All but TCP and UDP: SCTP, DCCP, UDP-Lite, L2TP, SMC, MPTCP, ping sockets.
TEST_P(SeccompTest, InternetSocketsSpeakOnlyTcpAndUdp) {
  constexpr std::uint64_t dccp = 6;  // a type of its own, as SOCK_SEQPACKET is SCTP's
  for (const std::uint64_t family : Arguments{AF_INET, AF_INET6})
    for (const std::uint64_t type : Arguments{SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, dccp})
      for (std::uint64_t protocol = 0; protocol < 512; ++protocol) {
        const bool tcp = type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP);
        const bool udp = type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP);
        const bool mptcp = type == SOCK_STREAM && protocol == 262 &&
                           std::string_view(GetParam()).starts_with("mptcp");
        if (tcp || udp || mptcp) {
          EXPECT_EQ(answer(SYS_socket, {family, type, protocol}), kAllow);
          continue;
        }
        EXPECT_EQ(answer(SYS_socket, {family, type, protocol}), kEprotonosupport)
            << family << ' ' << type << ' ' << protocol;
        EXPECT_EQ(answer(SYS_socket, {kHighBit | family, type, kHighBit | protocol}),
                  kEprotonosupport);
      }
}

TEST_P(SeccompTest, OptionsThatPutAProtocolIntoASocketAreDenied) {
  constexpr std::uint64_t ulp = 31;     // TCP_ULP
  constexpr std::uint64_t encap = 100;  // UDP_ENCAP
  for (const std::uint64_t high : Arguments{0, kHighBit, 0xffffffff00000000}) {
    EXPECT_EQ(answer(SYS_setsockopt, {3, high | IPPROTO_TCP, high | ulp}), kEperm);
    EXPECT_EQ(answer(SYS_setsockopt, {3, high | IPPROTO_UDP, high | encap}), kEperm);
  }
  for (std::uint64_t option = 0; option < 256; ++option) {
    EXPECT_EQ(answer(SYS_setsockopt, {3, SOL_SOCKET, option}), kAllow) << option;
    EXPECT_EQ(answer(SYS_getsockopt, {3, IPPROTO_TCP, option}), kAllow) << option;
    if (option != ulp) {
      EXPECT_EQ(answer(SYS_setsockopt, {3, IPPROTO_TCP, option}), kAllow) << option;
    }
    if (option != encap) {
      EXPECT_EQ(answer(SYS_setsockopt, {3, IPPROTO_UDP, option}), kAllow) << option;
    }
  }
}

TEST_P(SeccompTest, OnlyTheRoutingNetlinkIsAllowed) {
  EXPECT_EQ(answer(SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}), kAllow);
  EXPECT_EQ(answer(SYS_socket, {AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE}), kAllow);
  for (std::uint64_t protocol = 1; protocol < 64; ++protocol) {
    EXPECT_EQ(answer(SYS_socket, {AF_NETLINK, SOCK_RAW, protocol}), kEafnosupport) << protocol;
    EXPECT_EQ(answer(SYS_socket, {AF_NETLINK, SOCK_DGRAM, kHighBit | protocol}), kEafnosupport);
  }
}

TEST_P(SeccompTest, OtherSocketFamiliesDoNotExist) {
  for (std::uint64_t family = 0; family < 256; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    for (const std::uint64_t type : Arguments{SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW}) {
      if (family != AF_NETLINK) {
        EXPECT_EQ(answer(SYS_socket, {family, type}), kEafnosupport) << family;
        EXPECT_EQ(answer(SYS_socket, {kHighBit | family, type}), kEafnosupport) << family;
      }
      EXPECT_EQ(answer(SYS_socketpair, {family, type}), kEafnosupport) << family;
    }
  }
}

TEST_P(SeccompTest, OnlyLocalSocketsComeInPairs) {
  EXPECT_EQ(answer(SYS_socketpair, {AF_UNIX, SOCK_STREAM}), kAllow);
  EXPECT_EQ(answer(SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC}), kAllow);
  EXPECT_EQ(answer(SYS_socketpair, {AF_INET, SOCK_STREAM}), kEafnosupport);
  EXPECT_EQ(answer(SYS_socketpair, {AF_INET6, SOCK_STREAM}), kEafnosupport);
}

TEST_P(SeccompTest, PersonalityChangesOnlyWhatDebuggersNeed) {
  for (const std::uint64_t wanted : Arguments{0ul, 0xfffffffful, ~0ul, 0x8ul, 0x40000ul, 0x40008ul})
    EXPECT_EQ(answer(SYS_personality, {wanted}), kAllow) << wanted;
  for (const std::uint64_t wanted : Arguments{0x400000ul, 0x440000ul, 0x100000ul, 0x1ul, 0x7ul,
                                              0x40001ul, kHighBit | 0x400000ul, 0xfffffffeul})
    EXPECT_EQ(answer(SYS_personality, {wanted}), kEperm) << wanted;
}

TEST_P(SeccompTest, ProgramsMayTightenThemselvesButNotListen) {
  expect_all(kAllow, {SYS_prctl, SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule,
                      SYS_landlock_restrict_self});
  constexpr std::uint64_t listener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  EXPECT_EQ(answer(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}), kAllow);
  EXPECT_EQ(answer(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, listener}), kEperm);
  EXPECT_EQ(answer(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, listener | 0x11}), kEperm);
  EXPECT_EQ(answer(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, kHighBit | listener}), kEperm);
}

TEST_P(SeccompTest, DevelopmentToolsFindTheirCalls) {
  // clang-format off
  expect_all(kAllow, {
      SYS_read, SYS_write, SYS_openat, SYS_close, SYS_close_range, SYS_mmap,
      SYS_mprotect, SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise, SYS_process_madvise,
      SYS_memfd_create, SYS_rseq, SYS_statx, SYS_newfstatat, SYS_faccessat2, SYS_copy_file_range,
      SYS_splice, SYS_tee, SYS_vmsplice, SYS_sendfile, SYS_membarrier, SYS_get_mempolicy,
      SYS_set_mempolicy, SYS_mbind, SYS_mlock, SYS_mlock2, SYS_mlockall, SYS_munlock,
      SYS_munlockall, SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,
      SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2,
      SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_sched_yield,
      SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getattr, SYS_sched_setattr,
      SYS_sched_getparam, SYS_sched_setparam, SYS_sched_getscheduler, SYS_sched_setscheduler,
      SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_rr_get_interval,
      SYS_prlimit64, SYS_setrlimit, SYS_getrlimit, SYS_getrandom, SYS_sysinfo, SYS_uname,
      SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
      SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_removexattr, SYS_lremovexattr,
      SYS_fremovexattr, SYS_flock, SYS_fcntl, SYS_shmget, SYS_shmat, SYS_shmdt, SYS_shmctl,
      SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
      SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify,
      SYS_mq_getsetattr, SYS_io_destroy, SYS_io_submit, SYS_io_cancel,
      SYS_io_getevents, SYS_io_pgetevents, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_futex,
      SYS_futex_waitv, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_setuid,
      SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid,
      SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_capget, SYS_utimensat, SYS_fallocate,
      SYS_mknodat, SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
      SYS_kill, SYS_tgkill, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
      SYS_restart_syscall, SYS_setsid, SYS_setpgid, SYS_pipe2, SYS_dup3, SYS_ppoll, SYS_pselect6,
      SYS_getdents64, SYS_getcwd, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat,
      SYS_mkdirat, SYS_readlinkat, SYS_fchmodat, SYS_fchownat, SYS_connect, SYS_bind, SYS_listen,
      SYS_accept4, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_setsockopt,
      SYS_getsockopt, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_timer_create,
      SYS_setitimer, SYS_pkey_alloc, SYS_getcpu, SYS_syncfs});
  // clang-format on
#if defined(__x86_64__)
  expect_all(kAllow, {SYS_open,     SYS_stat,       SYS_lstat,   SYS_access,   SYS_fork,
                      SYS_vfork,    SYS_arch_prctl, SYS_mknod,   SYS_pipe,     SYS_dup2,
                      SYS_poll,     SYS_select,     SYS_rename,  SYS_mkdir,    SYS_unlink,
                      SYS_readlink, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init,
                      SYS_alarm,    SYS_pause,      SYS_time,    SYS_getpgrp});
#endif
}

TEST_P(SeccompTest, AnotherMachinesFilterUsesItsOwnNumbers) {
  const Profile* profile = find(GetParam(), Machine::aarch64);
  const auto answers = [&](long number, Arguments arguments) {
    return run(profile, AUDIT_ARCH_AARCH64, number, arguments);
  };
  EXPECT_EQ(answers(63, {}), kAllow) << "read";
  EXPECT_EQ(answers(56, {}), kAllow) << "openat";
  EXPECT_EQ(answers(40, {}), kEperm) << "mount";
  EXPECT_EQ(answers(97, {}), kEperm) << "unshare";
  EXPECT_EQ(answers(280, {}), kEperm) << "bpf";
  EXPECT_EQ(answers(435, {}), kEnosys) << "clone3";
  EXPECT_EQ(answers(300, {}), kEnosys) << "no call";
  EXPECT_EQ(answers(220, {17}), kAllow) << "clone";
  EXPECT_EQ(answers(220, {CLONE_NEWUSER | 17}), kEperm) << "clone";
  EXPECT_EQ(answers(29, {0, TCGETS}), kAllow) << "ioctl";
  EXPECT_EQ(answers(29, {0, kHighBit | TIOCSTI}), kEperm) << "ioctl";
  EXPECT_EQ(answers(198, {AF_INET, SOCK_STREAM}), kAllow) << "socket";
  EXPECT_EQ(answers(198, {AF_PACKET, SOCK_DGRAM}), kEafnosupport) << "socket";
  EXPECT_EQ(answers(92, {0x400000}), kEperm) << "personality";
  const bool debugs = !std::string_view(GetParam()).ends_with("no-debug");
  EXPECT_EQ(answers(117, {}), debugs ? kAllow : kEperm) << "ptrace";
}

TEST_P(SeccompTest, EveryRuleHasAReasonAndTheLastOfACallAlwaysHolds) {
  for (const Machine machine : {Machine::x86_64, Machine::aarch64}) {
    const std::span<const SyscallReason> reasons = find(GetParam(), machine)->reasons;
    for (std::size_t index = 0; index < reasons.size(); ++index) {
      EXPECT_FALSE(reasons[index].reason.empty()) << reasons[index].name;
      EXPECT_NE(reasons[index].verdict, "debug") << reasons[index].name;
      const bool last =
          index + 1 == reasons.size() || reasons[index + 1].name != reasons[index].name;
      EXPECT_EQ(reasons[index].condition.empty(), last) << reasons[index].name;
    }
  }
}

TEST_P(SeccompTest, CommonCallsAreDecidedInFewInstructions) {
  for (const long number : {SYS_read, SYS_write, SYS_openat, SYS_mmap, SYS_futex, SYS_close,
                            SYS_newfstatat, SYS_clock_gettime}) {
    seccomp_data call{};
    call.nr = static_cast<int>(number);
    call.arch = kThisMachine;
    const std::optional<Evaluation> evaluation = evaluate(find(GetParam())->program, call);
    ASSERT_TRUE(evaluation.has_value());
    // openat also looks at its flags and mode.
    EXPECT_LE(evaluation->instructions, number == SYS_openat ? 26u : 20u) << number;
  }
}

// The evaluator itself: a filter that it takes for harmless must be one.
TEST(BpfTest, ProgramsTheKernelWouldRefuseHaveNoAnswer) {
  const auto refused = [](std::vector<sock_filter> program) {
    return !evaluate(program, seccomp_data{}).has_value();
  };
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  EXPECT_FALSE(refused({allow}));
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)}));
  EXPECT_TRUE(refused({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), allow}));
  EXPECT_TRUE(refused({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), allow}));
  EXPECT_TRUE(refused({BPF_STMT(BPF_JMP | BPF_JA, 1), allow}));
  EXPECT_TRUE(refused({BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), allow}));
}

}  // namespace
}  // namespace coop::seccomp
