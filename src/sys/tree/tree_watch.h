// For a process that looks at the same trees again and again: what it has seen, and which directories have not changed
// since. The kernel queues an inotify event before the call that changes a directory returns, so a directory without
// an event is as it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/tree/tree_index.h"

namespace coop {

// Calls may come from several threads.
class TreeWatch {
 public:
  static Result<std::unique_ptr<TreeWatch>> make();

  // What was learned of the tree that is open as `root`, compared with it; empty when nothing was.
  TreeIndex recall(const IndexPlace& place, int root);
  // What a walk has seen that began with recall(). Costs system calls for each directory that is new: off the clock.
  void learn(const IndexPlace& place, int root, IndexRows seen);

 private:
  struct Tree {
    std::shared_ptr<const IndexRows> rows{};
    std::uint64_t device = 0;
    std::uint64_t inode = 0;            // of the root
    std::vector<std::uint8_t> clean{};  // by row: watched, and no event since it was looked at
    std::vector<int> watches{};         // by row, or -1
  };

  TreeWatch(UniqueFd events, UniqueFd mounts)
      : events_(std::move(events)), mounts_(std::move(mounts)) {}
  void read_events();
  void forget();
  int add(int root, const std::string& path, std::uint64_t device, const IndexRow& row);
  void watch(Tree& tree, int root, const std::vector<int>& known);

  std::mutex mutex_{};
  UniqueFd events_;
  UniqueFd mounts_;  // /proc/self/mountinfo: a mount on a directory makes no event in it
  std::map<std::string, Tree> trees_{};
  std::unordered_map<int, std::pair<Tree*, std::uint32_t>> rows_{};  // by watch
};

}  // namespace coop
