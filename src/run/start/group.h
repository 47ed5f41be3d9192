// The sandbox's control group: created before the clone, removed after the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "run/start/scope.h"
#include "sys/fd.h"

namespace coop::run {

class Group {
 public:
  Group() = default;
  Group(Group&&) noexcept = default;
  Group& operator=(Group&&) noexcept;
  ~Group();

  // Creates the directories and writes the limits. An empty plan creates nothing.
  static Result<Group> make(const GroupPlan& plan);

  bool exists() const { return !directories_.empty(); }
  // v2: for CLONE_INTO_CGROUP. -1 when there is none.
  int clone_target() const { return target_.get(); }
  // v1: the files to which the child writes "0", and so joins. If its parent wrote the pid, the kernel would wait for an
  // RCU grace period (11 ms); a thread that moves itself takes no global lock.
  std::vector<Path> to_join() const;
  // A scope: systemd moves the child.
  bool needs_move() const { return scope_ != nullptr; }
  Result<void> move(int pid) { return scope_->move(pid); }

  std::optional<std::uint64_t> peak_memory() const;
  std::uint64_t out_of_memory_kills() const;

  // Removes the directories; waits at most a second for processes that are still exiting.
  void remove();

 private:
  CgroupKind kind_ = CgroupKind::none;
  std::vector<Path> directories_{};  // one on v2, one for each controller on v1
  Path memory_{};
  UniqueFd target_{};
  std::unique_ptr<Scope> scope_{};
};

// The directories that make(plan) would create: for cleanup after a crash. A scope is systemd's to remove.
std::vector<Path> group_directories(const GroupPlan& plan);
void remove_group_directories(const std::vector<Path>& directories);

}  // namespace coop::run
