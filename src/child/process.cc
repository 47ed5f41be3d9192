#include "child/process.h"

#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>

#include "child/state.h"

namespace coop::child {

namespace {

// By rt_sigprocmask itself: glibc keeps two signals for itself out of every mask.
std::uint64_t set_mask(std::uint64_t mask) noexcept {
  std::uint64_t before = 0;
  raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

}  // namespace

long clone_process(const CloneOptions& options, Entry enter, const void* argument) noexcept {
  clone_args arguments{};
  arguments.flags = options.flags;
  if (options.pidfd != nullptr) {
    arguments.flags |= CLONE_PIDFD;
    arguments.pidfd = reinterpret_cast<__u64>(options.pidfd);
  }
  if (options.cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<__u64>(options.cgroup);
  }
  const std::uint64_t before = set_mask(~std::uint64_t{0});
  // Seccomp filters of older container runtimes refuse clone3, so use it only for what clone cannot do.
  const long pid = arguments.flags == 0
                       ? raw::call(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr)
                       : raw::call(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) enter(argument);
  set_mask(before);
  return pid;
}

// Never on the caller's own stack, not even while it sleeps: the child would return from the frame of the system call
// and overwrite it, return address included, unless the compiler happens to have inlined it.
long clone_borrowing(void* stack, Entry enter, const void* argument) noexcept {
  if (stack != nullptr) return raw::clone_onto(stack, CLONE_VM | SIGCHLD, enter, argument);
  alignas(16) std::byte own[16384];
  return raw::clone_onto(own + sizeof own, CLONE_VM | CLONE_VFORK | SIGCHLD, enter, argument);
}

int close_all_but(const int* keep, std::uint32_t count) noexcept {
  unsigned from = 0;
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto kept = static_cast<unsigned>(keep[index]);
    if (kept > from)
      if (const int error = attempt(SYS_close_range, from, kept - 1, 0)) return error;
    from = kept + 1;
  }
  return attempt(SYS_close_range, from, ~0U, 0);
}

void unblock_signals() noexcept { set_mask(0); }

}  // namespace coop::child
