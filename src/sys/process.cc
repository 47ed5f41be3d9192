#include "sys/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace coop {

void collect(int pidfd) {
  constexpr auto kByDescriptor = static_cast<idtype_t>(3);  // P_PIDFD, missing in older glibc
  siginfo_t information{};
  while (::waitid(kByDescriptor, static_cast<id_t>(pidfd), &information, WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
}

void wait_for_end(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  while (::poll(&watched, 1, -1) < 0 && errno == EINTR) {
  }
}

bool has_ended(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

void kill_at_once(int pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

}  // namespace coop
