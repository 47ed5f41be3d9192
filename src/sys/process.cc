#include "sys/process.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace coop {

Result<UniqueFd> open_pidfd(int pid) {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return system_error("pidfd_open");
  return pidfd;
}

void collect(int pidfd) {
  constexpr auto kByDescriptor = static_cast<idtype_t>(3);  // P_PIDFD, missing in older glibc
  siginfo_t information{};
  while (::waitid(kByDescriptor, static_cast<id_t>(pidfd), &information, WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
}

void kill_at_once(int pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

}  // namespace coop
