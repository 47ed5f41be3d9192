#include "child/tether/tether.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/process.h"
#include "child/state.h"
#include "raw/signals.h"

namespace coop::child {

namespace {

[[noreturn]] void become_program(const void* argument) noexcept {
  const Tether& tether = *static_cast<const Tether*>(argument);
  static const char* const kEnvironment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
  raw::call(SYS_dup3, tether.output, STDOUT_FILENO, 0);
  raw::call(SYS_dup3, tether.output, STDERR_FILENO, 0);
  raw::reset_signals();  // pasta does not start where SIGPIPE is ignored
  unblock_signals();
  raw::call(SYS_execve, tether.program, tether.arguments, kEnvironment);
  for (;;) raw::call(SYS_exit_group, 127);
}

[[noreturn]] void watch_both(const void* argument) noexcept {
  const Tether& tether = *static_cast<const Tether*>(argument);
  raw::call(SYS_setsid);
  close_all_but(tether.keep, tether.keep_count);
  const long null = raw::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  if (null > 0) raw::call(SYS_dup3, null, STDIN_FILENO, 0);
  if (tether.program == nullptr) {
    pollfd lifeline{tether.lifeline, POLLIN, 0};
    while (lifeline.revents == 0) raw::call(SYS_ppoll, &lifeline, 1, nullptr, nullptr, 0);
    for (;;) raw::call(SYS_exit_group, 0);
  }
  int pidfd = -1;
  const long program = clone_process({.pidfd = &pidfd}, become_program, argument);
  if (program < 0) raw::call(SYS_exit_group, 126);
  pollfd watched[2] = {{tether.lifeline, POLLIN, 0}, {pidfd, POLLIN, 0}};
  while (watched[0].revents == 0 && watched[1].revents == 0)
    raw::call(SYS_ppoll, watched, 2, nullptr, nullptr, 0);
  raw::call(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  int status = 0;
  raw::call(SYS_wait4, program, &status, __WALL, nullptr);
  for (;;) raw::call(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

long start_tethered(const Tether& tether, int& pidfd) noexcept {
  return clone_process({.pidfd = &pidfd}, watch_both, &tether);
}

}  // namespace coop::child
