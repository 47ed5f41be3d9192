// Tests kernel features in child processes; child/trial/ is the code of the child.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "child/trial/trial.h"

namespace coop::host {

using child::TrialStep;
using child::TrialWork;

// A step that the child did not report: it was not tried, or it killed the child.
inline constexpr int kNotReported = -1;

struct TrialReport {
  std::array<int, child::kTrialSteps> errors{};  // errno of each step; 0: it worked
  TrialReport() { errors.fill(kNotReported); }
  int error(TrialStep step) const { return errors[static_cast<std::size_t>(step)]; }
  bool operator==(const TrialReport&) const = default;
};

// One child in the namespaces of `clone_flags` (CLONE_NEW*).
TrialReport attempt(TrialWork work, std::uint64_t clone_flags = 0);

// One child for each set of flags, that ends at once. Gives the errno of each clone.
std::vector<int> attempt_clones(std::span<const std::uint64_t> flag_sets);

// errno_text, or the sentence for kNotReported.
std::string trial_error_text(int error);

}  // namespace coop::host
