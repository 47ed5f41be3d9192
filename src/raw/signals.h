// Resets the signal dispositions of a cloned process.
#pragma once

#include "raw/syscall.h"

namespace coop::raw {

// A new program must not inherit the parent's handlers and ignored signals, such as a server's
// ignored SIGPIPE.
inline void reset_signals() noexcept {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  } const defaults{};  // the kernel's struct sigaction
  for (int number = 1; number <= 64; ++number)
    call(SYS_rt_sigaction, number, &defaults, nullptr, sizeof(std::uint64_t));
}

}  // namespace coop::raw
