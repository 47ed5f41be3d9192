// Sets the mode of a directory for a process of a sandbox: a process that lives for a moment, with that process's mounts,
// ids and groups, and no capability.
#pragma once

#include <cstdint>

namespace coop::child {

// Written before the clone, read by the agent.
struct ModeOrder {
  int owner = -1;   // the user namespace that owns the caller's mounts; -1: it is our own
  int mounts = -1;  // the caller's mount namespace
  int proc = -1;    // our own /proc, where the agent finds itself
  int base = -1;    // what `path` starts at; -1: it is absolute
  const char* path = nullptr;  // null: the object is `base` itself
  bool follow = true;          // a symlink at the end of the path
  std::uint32_t mode = 0;
  int report = -1;  // a pipe: an int, 0 or an errno
};

// The agent's pid, or a negative errno. `pidfd` is filled.
long start_mode_agent(const ModeOrder& order, int& pidfd) noexcept;

}  // namespace coop::child
