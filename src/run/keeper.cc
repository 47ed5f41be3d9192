#include "run/keeper.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "raw/signals.h"
#include "run/signals_blocked.h"
#include "sys/process.h"

namespace coop::run {

namespace {

// Everything the two processes need, made before the clone: afterwards nothing may be allocated.
struct Prepared {
  const char* program = nullptr;
  std::vector<char*> arguments{};
  std::vector<int> keep{};  // ascending
  int lifeline = -1;
  int output = -1;
};

long clone_with_pidfd(int& pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<__u64>(&pidfd);
  return raw::call(SYS_clone3, &arguments, sizeof arguments);
}

void close_others(const std::vector<int>& keep) {
  unsigned from = 0;
  for (const int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > from) raw::call(SYS_close_range, from, kept - 1, 0);
    from = kept + 1;
  }
  raw::call(SYS_close_range, from, ~0U, 0);
}

// As a program expects to find them: pasta does not start where SIGPIPE is ignored.
void allow_signals() {
  raw::reset_signals();
  const std::uint64_t nothing = 0;
  raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, sizeof nothing);
}

[[noreturn]] void become_program(const Prepared& prepared) {
  static const char* const kNoEnvironment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
  raw::call(SYS_dup3, prepared.output, STDOUT_FILENO, 0);
  raw::call(SYS_dup3, prepared.output, STDERR_FILENO, 0);
  allow_signals();
  raw::call(SYS_execve, prepared.program, prepared.arguments.data(), kNoEnvironment);
  for (;;) raw::call(SYS_exit_group, 127);
}

// The only copy of the lifeline's other end is the supervisor's.
[[noreturn]] void keep(const Prepared& prepared) {
  raw::call(SYS_setsid);
  close_others(prepared.keep);
  const int null = static_cast<int>(raw::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0));
  if (null > 0) raw::call(SYS_dup3, null, STDIN_FILENO, 0);
  int pidfd = -1;
  const long program = clone_with_pidfd(pidfd);
  if (program == 0) become_program(prepared);
  if (program < 0) raw::call(SYS_exit_group, 126);
  pollfd watched[2] = {{prepared.lifeline, POLLIN, 0}, {pidfd, POLLIN, 0}};
  while (watched[0].revents == 0 && watched[1].revents == 0)
    raw::call(SYS_ppoll, watched, 2, nullptr, nullptr, 0);
  raw::call(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  int status = 0;
  raw::call(SYS_wait4, program, &status, __WALL, nullptr);
  for (;;) raw::call(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

Result<Keeper> Keeper::start(const std::vector<std::string>& arguments,
                             const std::vector<int>& pass, int output) {
  Pipe pipe = TRY(make_pipe());
  Prepared prepared{.program = arguments.front().c_str()};
  for (const std::string& argument : arguments)
    prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
  prepared.arguments.push_back(nullptr);
  prepared.lifeline = pipe.read.get();
  prepared.output = output;
  prepared.keep = pass;
  prepared.keep.push_back(prepared.lifeline);
  prepared.keep.push_back(output);
  std::ranges::sort(prepared.keep);
  // Ours are close-on-exec like everything; what is passed must not be.
  for (const int fd : pass) ::fcntl(fd, F_SETFD, 0);
  Keeper keeper;
  int pidfd = -1;
  long pid = 0;
  {
    const SignalsBlocked blocked;
    pid = clone_with_pidfd(pidfd);
    if (pid == 0) keep(prepared);
  }
  if (pid < 0) return system_error_of(static_cast<int>(-pid), "clone3");
  keeper.pidfd_.reset(pidfd);
  keeper.lifeline_ = std::move(pipe.write);
  return keeper;
}

Keeper::~Keeper() {
  lifeline_.reset();
  if (pidfd_.valid()) collect(pidfd_.get());
}

}  // namespace coop::run
