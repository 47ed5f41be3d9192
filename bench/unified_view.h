// A mount namespace in which /sys/fs/cgroup is cgroup v2 only: OCI runtimes refuse the hybrid
// layout. Needs root.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::bench {

class UnifiedView {
 public:
  static Result<UnifiedView> make();

  // Runs `work` in a thread that has entered the namespace; its children inherit it. Entering is
  // done before `work`, so a clock started in it does not include it.
  Result<void> within(const std::function<void()>& work) const;

 private:
  explicit UnifiedView(UniqueFd fd) : namespace_(std::move(fd)) {}

  UniqueFd namespace_{};
};

}  // namespace coop::bench
