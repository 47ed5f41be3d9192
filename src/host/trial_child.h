// What a trial's child does. Between clone and _exit it is a copy of one thread of a process that
// may have many: a lock another thread held is never released. So system calls only, no allocation.
#pragma once

#include "host/trial.h"

namespace coop::host {

struct TrialRecord {
  TrialStep step;
  int error;
};

// Written before the clone, read by the child.
struct TrialOrder {
  int report_fd = -1;
  TrialWork work = TrialWork::map_ids;
  std::array<char, 48> uid_map{};
  std::array<char, 48> gid_map{};
};

[[noreturn]] void run_namespace_trial(const TrialOrder& order) noexcept;
[[noreturn]] void run_filter_trial(const TrialOrder& order) noexcept;

}  // namespace coop::host
