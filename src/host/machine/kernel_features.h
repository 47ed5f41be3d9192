// Kernel features that can be queried without a namespace.
#pragma once

#include <string_view>

#include "host/facts.h"

namespace coop::host {

// "6.18.44-vendor" → 6.18; zeros for text that is no version.
KernelVersion parse_kernel_release(std::string_view release);

// The newest Landlock ABI; 0 when there is none. One system call.
int landlock_abi();

// Fills seccomp, seccomp_notify and seccomp_flags by installing filters in a child.
void try_seccomp(HostFacts& facts);

}  // namespace coop::host
