// The process that executes the command.
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "child/state.h"

namespace coop::child {

namespace {

[[noreturn]] void fail(const State& state, int error, Failing what = Failing::command) noexcept {
  send_report(state.control, Report{.event = Event::exec_failed,
                                    .step = static_cast<std::uint32_t>(what),
                                    .error = error});
  for (;;) raw::call(SYS_exit_group, 127);
}

// A duplicate numbered 3 or above. dup3 refuses equal descriptors, so the sources of 0, 1 and 2
// must not be there.
long above_stdio(long fd) noexcept {
  return fd < 0 ? fd : raw::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
}

// Moves the three descriptors to 0, 1 and 2. They may overlap with those numbers in any order, so
// duplicate all of them first.
int place_stdio(const int (&stdio)[3]) noexcept {
  long moved[3];
  for (int index = 0; index < 3; ++index) {
    moved[index] = above_stdio(
        stdio[index] < 0 ? raw::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0)
                         : stdio[index]);
    if (moved[index] < 0) return error_of(moved[index]);
  }
  for (int index = 0; index < 3; ++index)
    if (const int error = attempt(SYS_dup3, moved[index], index, 0)) return error;
  return 0;
}

bool already_placed(const int (&stdio)[3]) noexcept {
  return stdio[0] == 0 && stdio[1] == 1 && stdio[2] == 2;
}

// The workload gets its own foreground process group on the sandbox's terminal. Its parent, init,
// leads the session: so the group is not orphaned, and Ctrl-Z stops it.
int take_terminal(int terminal) noexcept {
  raw::call(SYS_setpgid, 0, 0);
  const auto self = static_cast<int>(raw::call(SYS_getpid));
  if (const int error = attempt(SYS_ioctl, terminal, TIOCSPGRP, &self)) return error;
  for (int index = 0; index < 3; ++index)
    if (const int error = attempt(SYS_dup3, terminal, index, 0)) return error;
  return 0;
}

// As execvp: the first candidate that can be executed; EACCES takes precedence over a later ENOENT.
int execute(const Workload& workload) noexcept {
  int error = ENOENT;
  for (const char* const* candidate = workload.candidates; *candidate != nullptr; ++candidate) {
    const int now = attempt(SYS_execve, *candidate, workload.arguments, workload.environment);
    if (now == EACCES) error = now;
    if (now != ENOENT && now != ENOTDIR && now != EACCES) return now;
  }
  return error;
}

// Waits for the pool to send the command.
int receive(int request_socket, Workload& workload) noexcept {
  ExecRequest request;
  int received[3] = {-1, -1, -1};
  std::size_t count = 0;
  const long size =
      receive_with_descriptors(request_socket, &request, sizeof request, received, 3, count);
  if (size < 0) return error_of(size);
  if (size != sizeof request || count != 3) return EPROTO;
  workload = *request.workload;
  for (int index = 0; index < 3; ++index) workload.stdio[index] = received[index];
  return 0;
}

}  // namespace

[[noreturn]] void become_workload(const Program& program, const State& state) noexcept {
  Workload workload = program.workload;
  if (program.open_files > 0)
    if (const int error = limit_resource(RLIMIT_NOFILE, program.open_files)) fail(state, error);
  if (program.request >= 0)
    if (const int error = receive(program.request, workload)) fail(state, error);
  if (state.terminal >= 0) {
    if (const int error = take_terminal(state.terminal)) fail(state, error);
  } else if (!already_placed(workload.stdio)) {
    if (const int error = place_stdio(workload.stdio)) fail(state, error);
  }
  if (workload.directory != nullptr)
    if (const long result = raw::call(SYS_chdir, workload.directory); result < 0)
      fail(state, error_of(result), Failing::directory);
  // Also what the caller blocks: SIGTERM must be able to end the command.
  unblock_signals();
  fail(state, execute(workload));
}

}  // namespace coop::child
