#include "run/janitor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sys/message.h"

namespace coop::run {

namespace {

void wait_for(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  while (::poll(&watched, 1, -1) < 0 && errno == EINTR) {
  }
}

// In the janitor. Everything inherited is closed: a copy of a control socket held here would keep
// the sandbox alive after its supervisor.
[[noreturn]] void serve(UniqueFd socket, const std::function<void()>& cleanup) {
  ::setsid();
  const int kept = ::dup3(socket.get(), 3, 0) == 3 ? 3 : socket.release();
  ::syscall(SYS_close_range, 4, ~0U, 0);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (int fd = 0; fd < 3; ++fd) ::open("/dev/null", O_RDWR);
  UniqueFd watched;
  for (;;) {
    Received received = receive_message(kept);
    if (received.size > 0 && received.descriptor.valid()) {
      watched = std::move(received.descriptor);
      continue;
    }
    if (received.size < 0 && errno == EINTR) continue;
    if (received.size <= 0) break;
  }
  if (watched.valid()) wait_for(watched.get());
  cleanup();
  ::_exit(0);
}

}  // namespace

Janitor::Janitor(Janitor&& other) noexcept
    : socket_(std::move(other.socket_)), pidfd_(std::move(other.pidfd_)) {}

Janitor& Janitor::operator=(Janitor&& other) noexcept {
  if (this != &other) {
    dismiss();
    socket_ = std::move(other.socket_);
    pidfd_ = std::move(other.pidfd_);
  }
  return *this;
}

Result<Janitor> Janitor::start(const std::function<void()>& cleanup) {
  auto [ours, theirs] = TRY(make_socket_pair());
  // No exit signal: a program that embeds us must not be told of a child it never started.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ours.reset();
    serve(std::move(theirs), cleanup);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error_of(error, "fork");
  Janitor janitor;
  janitor.socket_ = std::move(ours);
  janitor.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!janitor.pidfd_.valid()) return system_error("pidfd_open");
  return janitor;
}

void Janitor::watch(int pidfd) const { send_message(socket_.get(), "w", 1, {&pidfd, 1}); }

void Janitor::dismiss() {
  if (!pidfd_.valid()) return;
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t information{};
  while (::waitid(static_cast<idtype_t>(3 /* P_PIDFD */), static_cast<id_t>(pidfd_.get()), &information,
                  WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
  pidfd_.reset();
  socket_.reset();
}

}  // namespace coop::run
