// A mount namespace in which /sys/fs/cgroup is cgroup v2 alone: OCI runtimes refuse the hybrid
// layout that some machines boot with. Needs root.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::bench {

class UnifiedView {
 public:
  static Result<UnifiedView> make();

  // Runs `work` in a thread that has entered the namespace; what it starts is born there. Entering
  // happens before `work`, so a clock started in it does not count it.
  Result<void> within(const std::function<void()>& work) const;

 private:
  explicit UnifiedView(UniqueFd fd) : namespace_(std::move(fd)) {}

  UniqueFd namespace_{};
};

}  // namespace coop::bench
