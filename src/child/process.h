// Making processes. What runs between a clone(2) or clone3(2) and an exec is all in child/. Only one other place makes
// processes: the fork() of run/cleanup/janitor.cc, without an exec.
#pragma once

#include <cstdint>

namespace coop::child {

struct CloneOptions {
  std::uint64_t flags = 0;  // CLONE_NEW*
  int* pidfd = nullptr;     // filled unless null
  int cgroup = -1;          // the directory of the control group to start in, or -1
};

// What a new process runs. It never returns.
using Entry = void (*)(const void* argument) noexcept;

// The child starts with every signal blocked: a handler of the parent must not run on the child's copy of its memory.
// There is no exit signal: a program that embeds coop gets no SIGCHLD, and its wait() loop does not steal the child.
// The child's pid, or a negative errno.
long clone_process(const CloneOptions& options, Entry enter, const void* argument) noexcept;

// A child that borrows the caller's memory and does send SIGCHLD. Without a `stack` (its upper end) the caller sleeps
// until the child has called execve or ended, as with vfork(2).
long clone_borrowing(void* stack, Entry enter, const void* argument) noexcept;

// Closes every descriptor but these, which are in ascending order. 0 or an errno.
int close_all_but(const int* keep, std::uint32_t count) noexcept;

// Empties the signal mask, for a program that is about to be executed.
void unblock_signals() noexcept;

}  // namespace coop::child
