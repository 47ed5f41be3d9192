// Finds where a control group can be created. Creates nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/facts.h"

namespace coop::host {

// Our own group in each hierarchy, from /proc/self/cgroup: "memory" → "/user"; "" is v2's.
std::map<std::string, Path> parse_own_groups(std::string_view text);

// `base` is /sys/fs/cgroup, a temporary tree in tests.
CgroupFacts find_cgroups(const Path& base, std::string_view own_groups);

// Where none can be created: whether systemd's user manager, whose group is `own_group` of `base`, would make one.
CgroupFacts find_scope(const Path& base, std::string_view own_group);

}  // namespace coop::host
