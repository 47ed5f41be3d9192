#include "run/janitor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/single_threaded.h>
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

// glibc's fork() leaves the allocator usable in the child of a program with many threads, but its
// exit signal is SIGCHLD. With one thread a bare clone does, and its end disturbs nobody's handler.
pid_t fork_quietly() {
  if (__libc_single_threaded == 0) return ::fork();
  const long pid = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  return static_cast<pid_t>(pid);
}

// In the janitor. Everything inherited is closed: a copy of a control socket held here would keep
// the sandbox alive after its supervisor.
[[noreturn]] void serve(UniqueFd socket, int pidfd, const std::function<void()>& cleanup) {
  ::setsid();
  const int watching = pidfd < 0 ? -1 : ::fcntl(pidfd, F_DUPFD, 10);
  const int listening = ::fcntl(socket.release(), F_DUPFD, 10);
  constexpr int kKept = 3;
  ::dup3(listening, kKept, 0);
  if (watching >= 0) ::dup3(watching, kKept + 1, 0);
  ::syscall(SYS_close_range, watching >= 0 ? kKept + 2 : kKept + 1, ~0U, 0);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (int fd = 0; fd < 3; ++fd) ::open("/dev/null", O_RDWR);
  const int kept = kKept;
  UniqueFd watched(watching >= 0 ? kKept + 1 : -1);
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

Janitor::Janitor(Janitor&& other) noexcept = default;

Janitor& Janitor::operator=(Janitor&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

Result<Janitor> Janitor::start(const std::function<void()>& cleanup, int pidfd) {
  auto [ours, theirs] = TRY(make_socket_pair());
  // A handler of the program that embeds us must not run in the janitor.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork_quietly();
  if (pid == 0) {
    ours.reset();
    serve(std::move(theirs), pidfd, cleanup);
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

void Janitor::watch(int pidfd) const {
  // Fails only when the janitor is gone, and then there is nobody to tell.
  [[maybe_unused]] const Result<void> ignored = send_message(socket_.get(), "w", 1, {&pidfd, 1});
}

void Janitor::dismiss() const {
  if (pidfd_.valid()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

Janitor::~Janitor() {
  if (!pidfd_.valid()) return;
  dismiss();
  siginfo_t information{};
  while (::waitid(static_cast<idtype_t>(3 /* P_PIDFD */), static_cast<id_t>(pidfd_.get()),
                  &information, WEXITED | __WALL) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace coop::run
