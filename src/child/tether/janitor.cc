#include "child/tether/janitor.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "child/process.h"
#include "child/state.h"

namespace coop::child {

namespace {

constexpr int kSocket = 3;
constexpr int kSupervisor = 4;

// A copy of a control socket held here would keep a sandbox alive after its supervisor.
void keep_only(int socket, int supervisor) noexcept {
  // First of all the others: the limit on descriptors may be reached, and a supervisor whose descriptor is missing counts
  // as dead.
  const int kept[] = {socket < supervisor ? socket : supervisor,
                      socket < supervisor ? supervisor : socket};
  close_all_but(kept, 2);
  const long high_socket = raw::call(SYS_fcntl, socket, F_DUPFD, 10);
  const long high_supervisor = raw::call(SYS_fcntl, supervisor, F_DUPFD, 10);
  raw::call(SYS_dup3, high_socket, kSocket, 0);
  raw::call(SYS_dup3, high_supervisor, kSupervisor, 0);
  constexpr int kKeep[] = {kSocket, kSupervisor};
  close_all_but(kKeep, 2);
  for (int fd = 0; fd < 3; ++fd) raw::call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  rlimit64 files{};
  if (raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &files) < 0) return;
  files.rlim_cur = files.rlim_max;  // up to ten for each sandbox
  raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, nullptr);
}

void replace(int& slot, int fd) noexcept {
  if (slot >= 0) raw::call(SYS_close, slot);
  slot = fd;
}

// Grows by pages straight from the kernel.
class Ledger {
 public:
  Entrusted& at(std::uint64_t number) noexcept {
    for (std::size_t index = 0; index < list_.count; ++index)
      if (list_.entries[index].number == number) return list_.entries[index];
    if ((list_.count + 1) * sizeof(Entrusted) > bytes_) grow();
    list_.entries[list_.count] = Entrusted{.number = number};
    return list_.entries[list_.count++];
  }

  void drop(std::uint64_t number) noexcept {
    Entrusted& gone = at(number);
    replace(gone.cleanup, -1);
    replace(gone.pidfd, -1);
    replace(gone.root, -1);
    replace(gone.mounts, -1);
    replace(gone.terminal, -1);
    replace(gone.record, -1);
    for (std::size_t index = 0; index < gone.tree_count; ++index)
      raw::call(SYS_close, gone.trees[index]);
    gone = list_.entries[--list_.count];
  }

  const EntrustedList& list() const noexcept { return list_; }

 private:
  void grow() noexcept {
    const std::size_t wanted = bytes_ == 0 ? 4096 : bytes_ * 2;
    const long place = bytes_ == 0
                           ? raw::call(SYS_mmap, nullptr, wanted, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                           : raw::call(SYS_mremap, list_.entries, bytes_, wanted, MREMAP_MAYMOVE);
    // The supervisor starts another when it has more to entrust.
    if (place < 0 && place > -4096) raw::call(SYS_exit_group, 1);
    list_.entries = reinterpret_cast<Entrusted*>(place);
    bytes_ = wanted;
  }

  EntrustedList list_{};
  std::size_t bytes_ = 0;
};

void hold_tree(Entrusted& entry, int fd) noexcept {
  constexpr std::size_t kMost = sizeof entry.trees / sizeof entry.trees[0];
  if (entry.tree_count < kMost) entry.trees[entry.tree_count++] = fd;
  else raw::call(SYS_close, fd);
}

// False when no more can come.
bool take_order(Ledger& ledger) noexcept {
  JanitorMessage message;
  int fd = -1;
  std::size_t count = 0;
  const long size = receive_with_descriptors(kSocket, &message, sizeof message, &fd, 1, count);
  if (size == -EINTR) return true;
  if (size != sizeof message) return false;
  switch (message.order) {
    case JanitorOrder::add: replace(ledger.at(message.number).cleanup, fd); break;
    case JanitorOrder::watch: replace(ledger.at(message.number).pidfd, fd); break;
    case JanitorOrder::watch_root: replace(ledger.at(message.number).root, fd); break;
    case JanitorOrder::watch_mounts: replace(ledger.at(message.number).mounts, fd); break;
    case JanitorOrder::hold_record: replace(ledger.at(message.number).record, fd); break;
    case JanitorOrder::hold_tree: hold_tree(ledger.at(message.number), fd); break;
    case JanitorOrder::begin: ledger.at(message.number).begun = true; break;
    case JanitorOrder::watch_terminal: {
      Entrusted& entry = ledger.at(message.number);
      replace(entry.terminal, fd);
      entry.settings = message.settings;
      break;
    }
    case JanitorOrder::drop: ledger.drop(message.number); break;
  }
  return true;
}

}  // namespace

EntrustedList outlive_supervisor(int socket, int supervisor) noexcept {
  raw::call(SYS_setsid);
  keep_only(socket, supervisor);
  Ledger ledger;
  pollfd watched[2] = {{kSocket, POLLIN, 0}, {kSupervisor, POLLIN, 0}};
  // Its last orders may still be unread when the supervisor dies. The end of the socket tells less than its death: it
  // comes earlier, and never while a child that it forked has a copy.
  for (bool dead = false; !dead;) {
    if (raw::call(SYS_ppoll, watched, 2, nullptr, nullptr, 0) < 0) continue;
    if (watched[0].revents == 0) dead = watched[1].revents != 0;
    else if (!take_order(ledger)) watched[0].fd = -1;
  }
  // A sandbox exits with the last copy of its control socket, which such a child may hold too.
  for (const Entrusted& left : ledger.list())
    if (left.pidfd >= 0) raw::call(SYS_pidfd_send_signal, left.pidfd, SIGKILL, nullptr, 0);
  return ledger.list();
}

}  // namespace coop::child
