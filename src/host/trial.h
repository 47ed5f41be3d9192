// Trying a thing in a child process that lives for a moment, so that nothing stays behind: no
// mount, no namespace, no filter, no file. The host keeps no trace of a trial.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coop::host {

enum class TrialStep : std::uint8_t {
  clone,           // making the child in its namespaces
  map_ids,         // the child maps its own uid and gid
  private_mounts,  // the child changes its mount tree
  proc,            // mounting a whole /proc
  proc_subset,     // mounting /proc with subset=pid, tried only when the whole one is refused
  overlay,         // mounting an overlay on a tmpfs
  filter,          // installing a seccomp filter
  listener,        // installing one with a listener
};
inline constexpr std::size_t kTrialSteps = 8;

// What became of a step that the child never reported: it was not tried, or it killed the child.
inline constexpr int kNotReported = -1;

struct TrialReport {
  std::array<int, kTrialSteps> errors{};  // errno of each step; 0: it worked
  TrialReport() { errors.fill(kNotReported); }
  int error(TrialStep step) const { return errors[static_cast<std::size_t>(step)]; }
  bool operator==(const TrialReport&) const = default;
};

// How far a child in new namespaces goes.
enum class TrialWork : std::uint8_t { map_ids, mounts };

// One child in the namespaces of `clone_flags` (CLONE_NEW*).
TrialReport attempt_namespaces(std::uint64_t clone_flags, TrialWork work);

// One child for each set of flags, that ends at once. Gives each clone3's errno.
std::vector<int> attempt_clones(std::span<const std::uint64_t> flag_sets);

// One child in no new namespace that installs seccomp filters on itself.
TrialReport attempt_filters();

// errno_text, or the sentence for kNotReported.
std::string trial_error_text(int error);

}  // namespace coop::host
