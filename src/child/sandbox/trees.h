// Mounts as detached trees, by the calls that take descriptors instead of paths.
#pragma once

#include <cstdint>

namespace coop::child {

struct State;

// A copy of the mount at `source` with all that is mounted below it, attached nowhere. A descriptor or a negative errno.
long clone_tree(long source) noexcept;

// For the whole tree. Private propagation as well: a later mount on the host must not appear inside. 0 or an errno.
int set_attributes(long tree, std::uint64_t attributes) noexcept;

// 0 or an errno.
int attach(long tree, long target) noexcept;

// Below `directory`, without symlinks; `resolve`: RESOLVE_* besides. A descriptor or a negative errno.
long open_below(long directory, const char* path, std::uint64_t flags,
                std::uint64_t resolve = 0) noexcept;

// The directory in which new entries are made has been covered: see State::parent.
void forget_parent(State& state) noexcept;

}  // namespace coop::child
