// Doing something with no more than an ordinary user's rights.
#pragma once

#include <linux/capability.h>

#include <array>

namespace coop {

// While it lives, the calling thread has no effective capability: root is judged by owner and mode like any user, as it
// is inside a sandbox. Not for threads that are started meanwhile.
class WithoutCapabilities {
 public:
  WithoutCapabilities();
  WithoutCapabilities(const WithoutCapabilities&) = delete;
  WithoutCapabilities& operator=(const WithoutCapabilities&) = delete;
  ~WithoutCapabilities();

 private:
  std::array<__user_cap_data_struct, 2> held_{};
};

}  // namespace coop
