#include "child/tether/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/process.h"
#include "child/state.h"
#include "raw/signals.h"

namespace coop::child {

namespace {

void report(const Keeper& keeper, KeeperReport report) noexcept {
  raw::call(SYS_write, keeper.report, &report, sizeof report);
}

[[noreturn]] void become_command(const void* argument) noexcept {
  const Keeper& keeper = *static_cast<const Keeper*>(argument);
  raw::call(SYS_setpgid, 0, 0);
  const long null = raw::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
  long failed = null < 0 ? null : raw::call(SYS_fchdir, keeper.directory);
  if (failed >= 0 && null != STDIN_FILENO) raw::call(SYS_dup3, null, STDIN_FILENO, 0);
  raw::call(SYS_dup3, keeper.output, STDOUT_FILENO, 0);
  raw::call(SYS_dup3, keeper.error, STDERR_FILENO, 0);
  raw::reset_signals();
  unblock_signals();
  if (failed >= 0)
    failed = raw::call(SYS_execve, keeper.program, keeper.arguments, keeper.environment);
  report(keeper, {.error = static_cast<int>(-failed)});
  for (;;) raw::call(SYS_exit_group, 127);
}

// Sends SIGKILL to each child of this process; the number of them.
int kill_children() noexcept {
  const long fd = raw::call(SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY, 0);
  if (fd < 0) return 0;
  char buffer[4096];
  int count = 0;
  long pid = 0;
  for (long size = 0; (size = raw::call(SYS_read, fd, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < size; ++at) {
      // The kernel has filled it. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
      if (buffer[at] >= '0' && buffer[at] <= '9') {
        pid = pid * 10 + (buffer[at] - '0');
      } else if (pid > 0) {
        // A child of ours: its number is not reused before we have waited for it.
        raw::call(SYS_kill, pid, SIGKILL);
        ++count;
        pid = 0;
      }
    }
  raw::call(SYS_close, fd);
  return count;
}

// The command, then what it left: each that dies leaves us its own children, until there are none.
KeeperReport end_all(long command) noexcept {
  raw::call(SYS_kill, -command, SIGKILL);
  raw::call(SYS_kill, command, SIGKILL);
  KeeperReport report;
  raw::call(SYS_wait4, command, &report.status, __WALL, nullptr);
  int status = 0;
  // One that had ended by itself was only not waited for.
  while (kill_children() > 0 && raw::call(SYS_wait4, -1, &status, __WALL, nullptr) > 0)
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) report.others = 1;
  return report;
}

[[noreturn]] void keep_command(const void* argument) noexcept {
  const Keeper& keeper = *static_cast<const Keeper*>(argument);
  raw::call(SYS_setpgid, 0, 0);  // Ctrl-C at the terminal is for the supervisor, which tells us
  raw::call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  close_all_but(keeper.keep, keeper.keep_count);
  int pidfd = -1;
  const long command = clone_process({.pidfd = &pidfd}, become_command, argument);
  if (command < 0) {
    report(keeper, {.error = static_cast<int>(-command)});
    for (;;) raw::call(SYS_exit_group, 1);
  }
  pollfd watched[2] = {{pidfd, POLLIN, 0}, {keeper.lifeline, POLLIN, 0}};
  while (watched[0].revents == 0 && watched[1].revents == 0)
    raw::call(SYS_ppoll, watched, 2, nullptr, nullptr, 0);
  if (watched[0].revents == 0) {
    raw::call(SYS_kill, command, SIGTERM);
    raw::call(SYS_kill, -command, SIGTERM);
    timespec grace{keeper.grace_milliseconds / 1000,
                   (keeper.grace_milliseconds % 1000) * 1'000'000L};
    raw::call(SYS_ppoll, watched, 1, &grace, nullptr, 0);
  }
  report(keeper, end_all(command));
  for (;;) raw::call(SYS_exit_group, 0);
}

}  // namespace

long start_keeper(const Keeper& keeper, int& pidfd) noexcept {
  return clone_process({.pidfd = &pidfd}, keep_command, &keeper);
}

}  // namespace coop::child
