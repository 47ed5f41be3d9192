// A veth pair between the host and a sandbox, and the host's rules for it. Needs root.
#pragma once

#include <memory>

#include "run/network/provider.h"

namespace coop::run {

// Nothing is left behind, even after SIGKILL: the pair goes with the sandbox's network namespace,
// and the rules with the netlink socket that owns them.
Result<std::unique_ptr<Provider>> lay_link(const NetworkPlan& plan, int pid);

}  // namespace coop::run
