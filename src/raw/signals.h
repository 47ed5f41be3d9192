// Signals of a process that was cloned from one with habits of its own.
#pragma once

#include "raw/syscall.h"

namespace coop::raw {

// What the parent ignores or handles, a new program should not: a server that ignores SIGPIPE is no reason for others to.
inline void reset_signals() noexcept {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  } const defaults{};  // as the kernel has struct sigaction
  for (int number = 1; number <= 64; ++number)
    call(SYS_rt_sigaction, number, &defaults, nullptr, sizeof(std::uint64_t));
}

}  // namespace coop::raw
