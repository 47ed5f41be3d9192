#include "run/cleanup/janitor.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "child/process.h"
#include "child/tether/janitor.h"
#include "run/terminal/raw_terminal.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop::run {

namespace {

using child::JanitorMessage;
using child::JanitorOrder;

UniqueFd open_self() {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}

// What the janitor starts with.
struct Inherited {
  int socket = -1;
  int supervisor = -1;  // a pidfd
};

[[noreturn]] void serve(const void* argument) noexcept {
  const auto& inherited = *static_cast<const Inherited*>(argument);
  const child::EntrustedList left =
      child::outlive_supervisor(inherited.socket, inherited.supervisor);
  // Before all that takes time: the caller's shell is about to read from it. Then it is closed, for programs that wait
  // until no process has it open.
  for (const child::Entrusted& sandbox : left) {
    if (sandbox.terminal < 0) continue;
    restore_if_raw(sandbox.terminal, sandbox.settings);
    ::close(sandbox.terminal);
  }
  for (const child::Entrusted& sandbox : left) {
    if (sandbox.pidfd >= 0) wait_for_end(sandbox.pidfd);
    const Result<std::string> bytes = read_all(sandbox.cleanup, "the cleanup");
    const std::optional<Cleanup> cleanup = bytes ? cleanup_from(*bytes) : std::nullopt;
    if (cleanup) carry_out(*cleanup);
  }
  ::_exit(0);
}

// The one fork outside of child/process.cc, and never followed by an exec: once the supervisor is dead the janitor
// cleans up, which allocates. In a program with threads only glibc's fork() leaves the allocator usable in the child; its
// exit signal is SIGCHLD. With one thread a bare clone is enough, and its end runs no handler of the program.
Result<pid_t> fork_janitor(const Inherited& inherited) {
  if (__libc_single_threaded != 0) {
    const long pid = child::clone_process({}, serve, &inherited);
    if (pid < 0) return system_error_of(static_cast<int>(-pid), "fork");
    return static_cast<pid_t>(pid);
  }
  // A signal handler of the embedding program must not run in the janitor.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) serve(&inherited);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error_of(error, "fork");
  return pid;
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
  const pid_t pid = TRY(fork_janitor({.socket = theirs.get(), .supervisor = self.get()}));
  std::unique_ptr<Janitor> janitor(new Janitor);
  janitor->owner_ = ::getpid();
  janitor->socket_ = std::move(ours);
  janitor->pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!janitor->pidfd_.valid()) return system_error("pidfd_open");
  return std::shared_ptr<Janitor>(std::move(janitor));
}

Janitor::~Janitor() {
  // A forked child of the program has a copy of this; the janitor is not its child.
  if (!pidfd_.valid() || owner_ != ::getpid()) return;
  kill_at_once(pidfd_.get());
  collect(pidfd_.get());
}

Result<Charge> Charge::give(Cleanup cleanup, int pidfd) {
  const UniqueFd memory = TRY(in_memory(to_bytes(std::move(cleanup))));
  Charge charge;
  charge.janitor_ = TRY(Janitor::of_this_process());
  charge.number_ = charge.janitor_->next_++;
  const JanitorMessage message{JanitorOrder::add, charge.number_};
  const int descriptor = memory.get();
  TRY(send_message(charge.janitor_->socket_.get(), &message, sizeof message, {&descriptor, 1}));
  if (pidfd >= 0) TRY(charge.watch(pidfd));
  return charge;
}

Result<void> Charge::watch(int pidfd) const {
  const JanitorMessage message{JanitorOrder::watch, number_};
  return send_message(janitor_->socket_.get(), &message, sizeof message, {&pidfd, 1});
}

Result<void> Charge::watch_terminal(int fd, const termios& before) const {
  const JanitorMessage message{JanitorOrder::watch_terminal, number_, before};
  return send_message(janitor_->socket_.get(), &message, sizeof message, {&fd, 1});
}

void Charge::end() {
  if (!janitor_) return;
  // Fails only when the janitor is gone.
  const JanitorMessage message{JanitorOrder::drop, number_};
  [[maybe_unused]] const Result<void> ignored =
      send_message(janitor_->socket_.get(), &message, sizeof message);
  janitor_.reset();
}

}  // namespace coop::run
