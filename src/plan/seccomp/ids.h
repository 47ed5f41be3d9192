// A filter for system calls that name users and groups.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace coop::seccomp {

// Answers EPERM when an id is neither `uid` or `gid` nor -1 ("leave it"), and allows everything else. Installed beside a
// profile: of two filters the stricter answer counts.
std::vector<sock_filter> ids_filter(std::uint32_t uid, std::uint32_t gid);

}  // namespace coop::seccomp
