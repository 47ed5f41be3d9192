// What a walk has found, and how far it may go on.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/facts.h"

namespace coop::guards {

struct WalkLimits {
  // The same before and after a run: a sandbox must not be able to make a tree that only one of the looks can see.
  std::uint64_t entries = 50'000'000;
  // Bound for all guarded paths together. Without it, a tree of 100,000 levels with a guarded path
  // in each would take quadratic memory.
  std::size_t path_bytes = std::size_t{64} << 20;
};

// Why not everything was seen. A walk that is disturbed goes on where it can.
enum class WalkStop : std::uint8_t { none, too_large, disturbed };

GuardedPath make_fact(const Path& path, const std::string& guard, const struct stat& status,
                      std::int64_t born);

class Findings {
 public:
  // What happens to guarded paths beyond the limit.
  enum class Beyond : std::uint8_t { end, go_on };

  Findings(const WalkLimits& limits, Beyond beyond) : limits_(limits), beyond_(beyond) {}

  void keep(GuardedPath found);
  void count_path(const Path& path);
  bool paths_overflow() const { return path_bytes_ > limits_.path_bytes; }
  // False when there are too many: the walk has ended.
  bool count_entry() {
    if (++entries_ <= limits_.entries) return true;
    give_up(WalkStop::too_large);
    return false;
  }

  void give_up(WalkStop why) { complete_ = false, stop_ = why; }
  // Something changed so that a part of the tree could not be seen.
  void disturbed() { complete_ = false, disturbed_ = true; }
  void incomplete() { complete_ = false; }
  // After a run the walk goes on: what has too many is new, and is moved, and must not hide the rest.
  void too_many_links() {
    if (beyond_ == Beyond::end) return give_up(WalkStop::too_large);
    complete_ = false, too_many_ = true;
  }
  bool stopped() const { return stop_ != WalkStop::none; }
  bool complete() const { return complete_; }
  WalkStop stop() const {
    if (stop_ != WalkStop::none) return stop_;
    return disturbed_ ? WalkStop::disturbed : too_many_ ? WalkStop::too_large : WalkStop::none;
  }

  std::vector<GuardedPath>& guarded() { return guarded_; }
  // Sorted and unique.
  std::vector<GuardedPath> take();

 private:
  WalkLimits limits_;
  Beyond beyond_;
  std::vector<GuardedPath> guarded_{};
  std::uint64_t entries_ = 0;
  std::size_t path_bytes_ = 0;
  bool complete_ = true;
  bool disturbed_ = false;
  bool too_many_ = false;
  WalkStop stop_ = WalkStop::none;
};

}  // namespace coop::guards
