// Mounts as detached trees, by the calls that take descriptors instead of paths.
#pragma once

#include <cstdint>

namespace coop::child {

// A copy of the mount at `source` with all that is mounted below it, attached nowhere. A descriptor or a negative errno.
long clone_tree(long source) noexcept;

// For the whole tree. Private propagation as well: a later mount on the host must not appear inside. 0 or an errno.
int set_attributes(long tree, std::uint64_t attributes) noexcept;

// 0 or an errno.
int attach(long tree, long target) noexcept;

}  // namespace coop::child
