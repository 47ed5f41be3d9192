// System calls without libc: no errno, no locks, no allocation. Safe in a child cloned from a
// multi-threaded process. Results are the kernel's: a negative errno on failure.
#pragma once

#include <sys/syscall.h>

#include <cstdint>
#include <type_traits>

namespace coop::raw {

#if defined(__x86_64__)

inline long call6(long number, long a, long b, long c, long d, long e, long f) noexcept {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// Clones a child that shares our memory and runs `enter(argument)` on its own stack; `enter` must
// not return. `stack` is the upper end, a multiple of 16.
inline long clone_onto(void* stack, long flags, void (*enter)(const void*) noexcept,
                       const void* argument) noexcept {
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  register auto r12 __asm__("r12") = enter;
  register auto r13 __asm__("r13") = argument;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
      : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

inline long call6(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

inline long clone_onto(void* stack, long flags, void (*enter)(const void*) noexcept,
                       const void* argument) noexcept {
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = flags;
  register auto x1 __asm__("x1") = stack;
  register long x2 __asm__("x2") = 0;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  register auto x19 __asm__("x19") = enter;
  register auto x20 __asm__("x20") = argument;
  __asm__ volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x20\n\t"
      "blr x19\n\t"
      "brk 1\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20)
      : "memory");
  return x0;
}

#else
#error "coop knows x86_64 and aarch64"
#endif

namespace detail {
template <typename T>
long word(T value) noexcept {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<long>(value);
  else if constexpr (std::is_null_pointer_v<T>) return 0;
  else return static_cast<long>(value);
}
}  // namespace detail

template <typename... Arguments>
long call(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= 6);
  const long words[6] = {detail::word(arguments)...};
  return call6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace coop::raw
