// Paths that are guarded or hidden by mounts, while the host works with the same files.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "coop/sandbox.h"
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
    bool lost = false;
  };
  // What runs inside can rename the directories above a mount in its home: then the target is elsewhere, and at its path may
  // be anything.
  struct Tree {
    Path place{};  // as it was at first
    int directory = -1;
    std::uint64_t mount = 0;
  };
  // The mounts that the host could end and that must not be lost.
  static std::vector<Guard> guards_of(const Plan& plan);

  // Once the sandbox has all its mounts (Event::root). Nothing when there is nothing to watch.
  static Result<std::unique_ptr<MountWatch>> start(EventLoop& loop, Sandbox::State& state);
  ~MountWatch();

 private:
  MountWatch(EventLoop& loop, Sandbox::State& state) : loop_(loop), state_(state) {}
  Result<void> find_trees();
  // Where each mount is now, by its number.
  std::map<std::uint64_t, Path> mounted() const;
  const Tree* tree_of(const Guard& guard) const;
  // Which guards have no mount. Nothing when a tree is no more in the view.
  std::optional<std::vector<Guard*>> without_mount(const std::map<std::uint64_t, Path>& mounts);
  void look();
  void end_sandbox();
  void make_again(std::span<Guard* const> lost);
  void look_later();

  EventLoop& loop_;
  Sandbox::State& state_;
  std::vector<Guard> guards_{};
  std::vector<Tree> trees_{};
  UniqueFd table_{};  // the sandbox's mountinfo
  std::optional<EventLoop::Timer> timer_{};
  std::chrono::milliseconds pause_{};
};

}  // namespace coop::run
