// Mounts paths of the host, read-only, into a sandbox that runs already, or hides paths in it: a process that lives for a moment, with the sandbox's
// capabilities and, at first, the host's mounts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coop::child {

inline constexpr std::size_t kMostAgentMounts = 64;

struct AgentMount {
  // On the host, canonical. Null: an empty file or directory that hides the target.
  const char* source;
  // In the sandbox; must be the same file or directory as the source. Below a directory of the sandbox: what runs inside can rename
  // those on the way to that.
  const char* target;
  int directory;
};

// Written before the clone, read by the agent.
struct AgentOrder {
  int owner = -1;   // the user namespace that owns the sandbox's mounts; -1: it is our own
  int mounts = -1;  // the mount namespace
  int report = -1;  // a pipe: for each mount an int, 0 or an errno
  const AgentMount* list = nullptr;
  std::size_t count = 0;  // kMostAgentMounts at most
};

// The agent's pid, or a negative errno. `pidfd` is filled.
long start_mount_agent(const AgentOrder& order, int& pidfd) noexcept;

}  // namespace coop::child
