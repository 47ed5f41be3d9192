// A program of the host that never outlives the process that started it. Between the two there is a process that waits
// for the end of either: the kernel's own signal for that (PR_SET_PDEATHSIG) is cleared when a program enters a user
// namespace.
#pragma once

#include <cstdint>

namespace coop::child {

// Written before the clone, read by the children.
struct Tether {
  const char* program =
      nullptr;  // none: the process in between only waits for the end of the lifeline
  char* const* arguments = nullptr;
  const int* keep = nullptr;  // descriptors not to close, ascending; with `lifeline` and `output`
  std::uint32_t keep_count = 0;
  int lifeline = -1;  // the read end of a pipe; the only copy of its write end is the supervisor's
  int output = -1;    // for what the program prints
};

// `pidfd` is that of the process in between, which ends with the program and has its exit status. Its pid, or a negative
// errno.
long start_tethered(const Tether& tether, int& pidfd) noexcept;

}  // namespace coop::child
