// Signals stay blocked across a clone: a handler of the parent must not run in the child.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>

#include "raw/syscall.h"

namespace coop::run {

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

}  // namespace coop::run
