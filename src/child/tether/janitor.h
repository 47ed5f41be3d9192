// The part of the janitor (run/cleanup/janitor.h) that lasts as long as its supervisor. The janitor is a fork of a
// program with threads: until the supervisor is dead it allocates nothing and takes no lock.
#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>

namespace coop::child {

enum class JanitorOrder : std::uint64_t {
  add,
  watch,
  watch_root,
  watch_mounts,
  watch_terminal,
  hold_record,
  hold_tree,
  begin,
  drop
};

// On a SOCK_SEQPACKET socket; all but `begin` and `drop` come with a descriptor.
struct JanitorMessage {
  JanitorOrder order{};
  std::uint64_t number = 0;  // of the sandbox
  termios settings{};        // watch_terminal: as they were
};

// What is known of one sandbox. Descriptors are -1 until they have come.
struct Entrusted {
  std::uint64_t number = 0;
  int cleanup = -1;   // add
  int pidfd = -1;     // watch: of its init
  int root = -1;      // watch_root: of its view
  int mounts = -1;    // watch_mounts: its mount namespace, which keeps the view as it is
  int terminal = -1;  // watch_terminal
  int record = -1;    // hold_record: its lock shows other runs that this one has not ended
  int trees[4] = {};  // hold_tree: what it could write, the first of it
  std::size_t tree_count = 0;
  bool begun = false;  // begin: a command was started in it
  termios settings{};
};

struct EntrustedList {
  Entrusted* entries = nullptr;
  std::size_t count = 0;
  const Entrusted* begin() const noexcept { return entries; }
  const Entrusted* end() const noexcept { return entries + count; }
};

// Closes everything inherited, and obeys what comes from `socket` until the process of the pidfd `supervisor` is dead.
// Then kills the sandboxes that are left.
EntrustedList outlive_supervisor(int socket, int supervisor) noexcept;

}  // namespace coop::child
