// Blocks all signals while a thread is started: it inherits the mask, and a signal that the program waits for must not
// be delivered to a thread of ours.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>

#include "raw/syscall.h"

namespace coop {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    const std::uint64_t all = ~std::uint64_t{0};
    raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() {
    raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }

 private:
  std::uint64_t before_ = 0;
};

}  // namespace coop
