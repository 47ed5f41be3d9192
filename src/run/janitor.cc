#include "run/janitor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "run/raw_terminal.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop::run {

namespace {

enum class Order : std::uint64_t { add, watch, watch_terminal, drop };

struct Message {
  Order order{};
  std::uint64_t number = 0;
  termios settings{};  // watch_terminal: as they were
};

struct Task {
  UniqueFd cleanup{};
  UniqueFd pidfd{};
  UniqueFd terminal{};
  termios settings{};
};

// glibc's fork() leaves the allocator usable in the child of a program with many threads, but its
// exit signal is SIGCHLD. With one thread a bare clone does, and its end disturbs nobody's handler.
pid_t fork_quietly() {
  if (__libc_single_threaded == 0) return ::fork();
  const long pid = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  return static_cast<pid_t>(pid);
}

UniqueFd open_self() {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}

constexpr int kSocket = 3;
constexpr int kHolder = 4;

// In the janitor. Everything inherited is closed: a copy of a control socket held here would keep
// a sandbox alive after its supervisor.
void keep_only(int socket, int holder) {
  const int high_socket = ::fcntl(socket, F_DUPFD, 10);
  const int high_holder = ::fcntl(holder, F_DUPFD, 10);
  ::dup2(high_socket, kSocket);
  ::dup2(high_holder, kHolder);
  ::syscall(SYS_close_range, kHolder + 1, ~0U, 0);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (int fd = 0; fd < 3; ++fd) ::open("/dev/null", O_RDWR);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) < 0) return;
  files.rlim_cur = files.rlim_max;  // up to three for each sandbox
  ::setrlimit(RLIMIT_NOFILE, &files);
}

// False when nobody can send any more.
bool take_order(std::map<std::uint64_t, Task>& tasks) {
  Message message;
  Received received = receive_message(kSocket, &message, sizeof message);
  if (received.size < 0) return errno == EINTR;
  if (received.size != sizeof message) return false;
  switch (message.order) {
    case Order::add: tasks[message.number].cleanup = std::move(received.descriptor); break;
    case Order::watch: tasks[message.number].pidfd = std::move(received.descriptor); break;
    case Order::watch_terminal:
      tasks[message.number].terminal = std::move(received.descriptor);
      tasks[message.number].settings = message.settings;
      break;
    case Order::drop: tasks.erase(message.number); break;
  }
  return true;
}

[[noreturn]] void serve(int socket, int holder) {
  ::setsid();
  keep_only(socket, holder);
  std::map<std::uint64_t, Task> tasks;
  pollfd watched[2] = {{kSocket, POLLIN, 0}, {kHolder, POLLIN, 0}};
  // Its last orders may still be unread when the holder dies. The socket's end tells less than its
  // death: it comes before, and never while a child that it forked has a copy.
  for (bool ended = false; !ended;) {
    if (::poll(watched, 2, -1) < 0) continue;
    if (watched[0].revents == 0) ended = watched[1].revents != 0;
    else if (!take_order(tasks)) watched[0].fd = -1;
  }
  // A sandbox dies with the last copy of its control socket: such a child may have that too.
  for (const auto& [number, task] : tasks)
    if (task.pidfd.valid()) kill_at_once(task.pidfd.get());
  // Before all that takes time: the caller's shell is about to read from it. And we let go of it, for
  // whoever waits until nobody has it open.
  for (auto& [number, task] : tasks) {
    if (task.terminal.valid()) restore_if_raw(task.terminal.get(), task.settings);
    task.terminal.reset();
  }
  for (const auto& [number, task] : tasks) {
    if (task.pidfd.valid()) wait_for_end(task.pidfd.get());
    const Result<std::string> bytes = read_all(task.cleanup.get(), "the cleanup");
    const std::optional<Cleanup> cleanup = bytes ? cleanup_from(*bytes) : std::nullopt;
    if (cleanup) carry_out(*cleanup);
  }
  ::_exit(0);
}

Result<UniqueFd> in_memory(std::string_view bytes) {
  UniqueFd memory(::memfd_create("coop-cleanup", MFD_CLOEXEC));
  if (!memory.valid()) return system_error("memfd_create");
  TRY(write_all(memory.get(), bytes, "the cleanup"));
  if (::lseek(memory.get(), 0, SEEK_SET) < 0) return system_error("lseek");
  return memory;
}

}  // namespace

bool Janitor::serves_this_process() const {
  return owner_ == ::getpid() && !has_ended(pidfd_.get());
}

Result<std::shared_ptr<Janitor>> Janitor::of_this_process() {
  static std::mutex mutex;
  static std::weak_ptr<Janitor> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Janitor> janitor = current.lock();
  if (janitor && janitor->serves_this_process()) return janitor;
  janitor = TRY(with_context("starting the janitor", start()));
  current = janitor;
  return janitor;
}

Result<std::shared_ptr<Janitor>> Janitor::start() {
  auto [ours, theirs] = TRY(make_socket_pair());
  const UniqueFd self = open_self();
  if (!self.valid()) return system_error("pidfd_open");
  // A handler of the program that embeds us must not run in the janitor.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork_quietly();
  if (pid == 0) serve(theirs.get(), self.get());
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error_of(error, "fork");
  std::unique_ptr<Janitor> janitor(new Janitor);
  janitor->owner_ = ::getpid();
  janitor->socket_ = std::move(ours);
  janitor->pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!janitor->pidfd_.valid()) return system_error("pidfd_open");
  return std::shared_ptr<Janitor>(std::move(janitor));
}

Janitor::~Janitor() {
  // A child that the program forked has a copy of this; the janitor is not its own.
  if (!pidfd_.valid() || owner_ != ::getpid()) return;
  kill_at_once(pidfd_.get());
  collect(pidfd_.get());
}

Result<Charge> Charge::give(Cleanup cleanup, int pidfd) {
  const UniqueFd memory = TRY(in_memory(to_bytes(std::move(cleanup))));
  Charge charge;
  charge.janitor_ = TRY(Janitor::of_this_process());
  charge.number_ = charge.janitor_->next_++;
  const Message message{Order::add, charge.number_};
  const int descriptor = memory.get();
  TRY(send_message(charge.janitor_->socket_.get(), &message, sizeof message, {&descriptor, 1}));
  if (pidfd >= 0) TRY(charge.watch(pidfd));
  return charge;
}

Result<void> Charge::watch(int pidfd) const {
  const Message message{Order::watch, number_};
  return send_message(janitor_->socket_.get(), &message, sizeof message, {&pidfd, 1});
}

Result<void> Charge::watch_terminal(int fd, const termios& before) const {
  const Message message{Order::watch_terminal, number_, before};
  return send_message(janitor_->socket_.get(), &message, sizeof message, {&fd, 1});
}

void Charge::end() {
  if (!janitor_) return;
  // Fails only when the janitor is gone, and then there is nobody to tell.
  const Message message{Order::drop, number_};
  [[maybe_unused]] const Result<void> ignored =
      send_message(janitor_->socket_.get(), &message, sizeof message);
  janitor_.reset();
}

}  // namespace coop::run
