// Paths that are guarded or hidden by mounts, while the host works with the same files.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "coop/sandbox.h"
#include "guards/quarantine.h"
#include "plan/plan.h"
#include "sys/event_loop.h"
#include "sys/fd.h"

namespace coop::run {

// A program of the host that replaces a guarded or hidden file, as git and editors do, ends the mount on it, and the
// sandbox could write or read the new file from then on. The kernel tells when mounts of the sandbox change: a lost one is made
// again at once by the mount agent. A guarded path that was lost for a moment is a gap of the state, since the sandbox may
// have been faster.
class MountWatch {
 public:
  struct Guard {
    Path source{};  // on the host; empty: the path is hidden
    Path target{};  // inside, as it was at first
    std::uint64_t mount = 0;
    bool lost = false;
  };
  // The mounts that the host could end and that must not be lost.
  static std::vector<Guard> guards_of(const Plan& plan);

  // Once the sandbox has all its mounts (Event::root). Nothing when there is nothing to watch.
  static Result<std::unique_ptr<MountWatch>> start(EventLoop& loop, Sandbox::State& state);
  ~MountWatch();

 private:
  MountWatch(EventLoop& loop, Sandbox::State& state) : loop_(loop), state_(state) {}
  // What runs inside renames the directories above a mount in its home: then the target is elsewhere, and at its path may be
  // anything. So nothing is looked up from there, and the table is only asked for the numbers of mounts: it is
  // written line by line, and two paths in it may be of different moments.
  struct Tree {
    guards::InsideTree at{};
    std::uint64_t mount = 0;  // 0: of the root
  };
  Result<void> find_trees();
  std::set<std::uint64_t> mounts() const;
  const Tree& tree_of(const Guard& guard) const;
  // The number of the mount at the target; 0: there is none. Nothing when that cannot be seen.
  std::optional<std::uint64_t> mount_of(const Guard& guard) const;
  bool is_read_only(const Guard& guard) const;
  bool is_lost(const Guard& guard, const std::set<std::uint64_t>& present) const;
  void look();
  void end_sandbox();
  void make_again(std::span<Guard* const> lost);
  void look_later();
  void look_regularly();
  void give_up_unreachable();

  EventLoop& loop_;
  Sandbox::State& state_;
  std::vector<Guard> guards_{};
  std::vector<Tree> trees_{};
  UniqueFd table_{};  // the sandbox's mountinfo
  std::optional<EventLoop::Timer> timer_{};
  std::optional<EventLoop::Timer> regular_{};
  std::chrono::milliseconds pause_{};
};

}  // namespace coop::run
