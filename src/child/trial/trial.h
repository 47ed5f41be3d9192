// Trying a kernel feature in a child process that lives for a moment. The host keeps no trace: no mount, no namespace,
// no filter, no file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coop::child {

enum class TrialStep : std::uint8_t {
  clone,        // making the child in its namespaces
  map_ids,      // the child maps its own uid and gid
  new_mount,    // a tmpfs: fsopen, fsconfig, fsmount
  attach,       // move_mount
  copy_mount,   // open_tree
  attributes,   // mount_setattr
  proc,         // mounting a whole /proc
  proc_subset,  // mounting /proc with subset=pid, tried only when the whole one is refused
  overlay,      // mounting an overlay on a tmpfs
  enter_root,   // pivot_root, umount2
  hostname,     // sethostname
  filter,       // installing a seccomp filter
  listener,     // installing one with a listener
};
inline constexpr std::size_t kTrialSteps = 13;

// How far the child goes.
enum class TrialWork : std::uint8_t {
  nothing,  // ends at once: the clone was the trial
  map_ids,
  setup,  // map_ids first, then what a start does: mounts, and the host name
  filters,
};

// What the child writes, one after each step.
struct TrialRecord {
  TrialStep step;
  int error;
};

// Written before the clone, read by the child.
struct TrialOrder {
  TrialWork work = TrialWork::nothing;
  int report = -1;  // a descriptor for the records
  char uid_map[48] = {};
  char gid_map[48] = {};
};

// One child in the namespaces of `clone_flags` (CLONE_NEW*). Its pid, or a negative errno.
long start_trial(std::uint64_t clone_flags, const TrialOrder& order) noexcept;

}  // namespace coop::child
