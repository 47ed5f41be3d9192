#include "run/cleanup/janitor.h"

#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "child/process.h"
#include "run/terminal/raw_terminal.h"
#include "sys/message.h"
#include "sys/process.h"
#include "sys/signals_blocked.h"

namespace coop::run {

namespace {

using child::JanitorMessage;
using child::JanitorOrder;

// What the janitor starts with.
struct Inherited {
  int socket = -1;
  int supervisor = -1;  // a pidfd
};

// A look at the trees may list 64 MiB of paths, and the facts about each of them take more.
constexpr std::size_t kMostOfACharge = std::size_t{1} << 30;

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
    if (sandbox.pidfd >= 0) wait_until_ready(sandbox.pidfd);
    const Result<std::string> bytes = read_all(sandbox.cleanup, "the cleanup", kMostOfACharge);
    std::optional<Cleanup> cleanup = bytes ? cleanup_from(*bytes) : std::nullopt;
    if (!cleanup) continue;
    // A prepared sandbox that ran nothing made nothing: what is new is the user's.
    if (!sandbox.begun) cleanup->guards = {};
    carry_out(*cleanup, {.view = {.root = sandbox.mounts >= 0 ? sandbox.root : -1},
                         .trees = std::span(sandbox.trees).first(sandbox.tree_count)});
  }
  ::_exit(0);
}

// The one fork outside of child/process.cc, and never followed by an exec: once the supervisor is dead the janitor
// cleans up, which allocates. In a program with threads only glibc's fork() leaves the allocator usable in the child; its
// exit signal is SIGCHLD. With one thread a bare clone is enough, and its end runs no handler of the program.
Result<pid_t> fork_janitor(const Inherited& inherited) {
  // A signal handler of the embedding program must not run in the janitor.
  const SignalsBlocked blocked;
  if (__libc_single_threaded != 0) {
    const long pid = child::clone_process({}, serve, &inherited);
    if (pid < 0) return system_error_of(static_cast<int>(-pid), "fork");
    return static_cast<pid_t>(pid);
  }
  const pid_t pid = ::fork();
  if (pid == 0) serve(&inherited);
  if (pid < 0) return system_error("fork");
  return pid;
}

Result<UniqueFd> in_memory(std::string_view bytes) {
  // It would be left undone.
  if (bytes.size() > kMostOfACharge)
    return system_error_of(E2BIG, "entrust the janitor with", "the look at guarded files");
  UniqueFd memory(::memfd_create("coop-cleanup", MFD_CLOEXEC));
  if (!memory.valid()) return system_error("memfd_create");
  TRY(write_all(memory.get(), bytes, "the cleanup"));
  if (::lseek(memory.get(), 0, SEEK_SET) < 0) return system_error("lseek");
  return memory;
}

}  // namespace

bool Janitor::serves_this_process() const {
  return owner_ == ::getpid() && !is_ready(pidfd_.get());
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
  const UniqueFd self = TRY(open_pidfd(::getpid()));
  const pid_t pid = TRY(fork_janitor({.socket = theirs.get(), .supervisor = self.get()}));
  std::unique_ptr<Janitor> janitor(new Janitor);
  janitor->owner_ = ::getpid();
  janitor->socket_ = std::move(ours);
  janitor->pidfd_ = TRY(open_pidfd(pid));
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
  TRY(charge.send({JanitorOrder::add, charge.number_}, memory.get()));
  if (pidfd >= 0) TRY(charge.watch(pidfd));
  return charge;
}

Result<void> Charge::send(const JanitorMessage& message, int descriptor) const {
  return send_message(janitor_->socket_.get(), &message, sizeof message,
                      std::span(&descriptor, descriptor < 0 ? 0U : 1U));
}

Result<void> Charge::watch(int pidfd) const { return send({JanitorOrder::watch, number_}, pidfd); }

Result<void> Charge::renew(Cleanup cleanup) const {
  const UniqueFd memory = TRY(in_memory(to_bytes(std::move(cleanup))));
  return send({JanitorOrder::add, number_}, memory.get());
}

Result<void> Charge::hold_record(int record) const {
  return send({JanitorOrder::hold_record, number_}, record);
}

Result<void> Charge::hold_tree(int tree) const {
  return send({JanitorOrder::hold_tree, number_}, tree);
}

Result<void> Charge::watch_view(int root, int mounts) const {
  TRY(send({JanitorOrder::watch_root, number_}, root));
  return send({JanitorOrder::watch_mounts, number_}, mounts);
}

Result<void> Charge::watch_terminal(int fd, const termios& before) const {
  return send({JanitorOrder::watch_terminal, number_, before}, fd);
}

void Charge::end() {
  if (!janitor_) return;
  // Fails only when the janitor is gone.
  [[maybe_unused]] const Result<void> ignored = send({JanitorOrder::drop, number_}, -1);
  janitor_.reset();
}

}  // namespace coop::run
