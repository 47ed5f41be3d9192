#include "sys/capabilities.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace coop {

namespace {

// The system call itself: it is about the calling thread, and has no reason to fail for fewer or the old capabilities.
void set_capabilities(const std::array<__user_cap_data_struct, 2>& wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capset, &header, wanted.data()) != 0) std::abort();
}

}  // namespace

WithoutCapabilities::WithoutCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capget, &header, held_.data()) != 0) std::abort();
  std::array<__user_cap_data_struct, 2> fewer = held_;
  for (__user_cap_data_struct& half : fewer) half.effective = 0;
  set_capabilities(fewer);
}

WithoutCapabilities::~WithoutCapabilities() { set_capabilities(held_); }

}  // namespace coop
