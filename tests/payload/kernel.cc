// System calls by number, and other entries into the kernel.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "payload/payload.h"

namespace payload {
namespace {

// call NUMBER [ARGUMENT…]: up to six numbers. All 64 bits of a number reach the kernel.
int call(Arguments a) {
  std::array<long, 6> values{};
  for (std::size_t index = 1; index < a.size() && index <= values.size(); ++index)
    values[index - 1] = number(a[index]);
  return judge(
      ::syscall(number(a[0]), values[0], values[1], values[2], values[3], values[4], values[5]));
}

int io_uring(Arguments) {
  io_uring_params parameters{};
  return judge(::syscall(SYS_io_uring_setup, 8, &parameters));
}

// clone FLAGS: by the call whose flags a filter can read
int clone_with(Arguments a) {
  const long child = ::syscall(SYS_clone, number(a[0]) | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return judge(child);
}

// clone3 FLAGS: by the call whose flags are in memory
int clone3_with(Arguments a) {
  clone_args wanted{};
  wanted.flags = static_cast<std::uint64_t>(number(a[0]));
  wanted.exit_signal = SIGCHLD;
  const long child = ::syscall(SYS_clone3, &wanted, sizeof wanted);
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return judge(child);
}

// handle: the host's root directory by its inode number, past every mount
int open_by_handle(Arguments) {
  // A file_handle as the kernel reads it: size of the body, kind, inode, generation.
  std::array<std::uint32_t, 4> handle{2 * sizeof(std::uint32_t), 1, 2, 0};
  const int here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return judge(::syscall(SYS_open_by_handle_at, here, handle.data(), O_RDONLY));
}

#if defined(__x86_64__)
int i386_entry(Arguments) {
  long answer = 20;  // getpid in the i386 table; 20 is writev in ours
  asm volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
  if (answer == ::getpid()) return escaped("getpid by int 0x80");
  return blocked(static_cast<int>(-answer));
}

int x32_entry(Arguments) { return judge(::syscall(static_cast<long>(0x40000000L | SYS_getpid))); }
#else
int i386_entry(Arguments) { return cannot_try("only on x86-64"); }
int x32_entry(Arguments) { return cannot_try("only on x86-64"); }
#endif

constexpr std::array kAttacks{
    Attack{"call", 1, call},
    Attack{"io-uring", 0, io_uring},
    Attack{"clone", 1, clone_with},
    Attack{"clone3", 1, clone3_with},
    Attack{"handle", 0, open_by_handle},
    Attack{"i386", 0, i386_entry},
    Attack{"x32", 0, x32_entry},
};

}  // namespace

std::span<const Attack> kernel_attacks() { return kAttacks; }

}  // namespace payload
