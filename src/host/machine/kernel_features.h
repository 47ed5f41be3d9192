// Kernel features, queried or tried out in a child.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/facts.h"

namespace coop::host {

// "6.18.44-vendor" → 6.18; zeros for text that is no version.
KernelVersion parse_kernel_release(std::string_view release);

// The newest Landlock ABI; 0 when there is none. One system call.
int landlock_abi();

// Adds the limits that all processes of this user share, whether they can be set for a namespace, and whether the
// supervisor can add up what processes use.
void inspect_shared_limits(HostFacts& facts);

// Fills seccomp, seccomp_notify and seccomp_flags by installing filters in a child.
void try_seccomp(HostFacts& facts);

// Whether a seccomp filter is in force for this process: it may refuse any system call. One system call.
bool under_filter();

// Fills namespaces as available: for a start, where clone3 itself reports a failure.
void assume_namespaces(HostFacts& facts);

// cloned: the namespaces that a start makes with clone3. One of the network takes longer than all others together, and the
// child makes it later; it and one of time are assumed to work.
enum class Extent : std::uint8_t { cloned, everything };

// Fills namespaces, hostname, proc and overlay, by trying namespaces and the calls of a start that need them. After
// nested_in, which the explanations name.
void try_namespaces(HostFacts& facts, Extent extent);

}  // namespace coop::host
