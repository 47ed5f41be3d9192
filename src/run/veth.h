// A link between the host and a sandbox, and the host's rules for it. Needs root.
#pragma once

#include <memory>

#include "run/network_provider.h"

namespace coop::run {

// Nothing of it can stay behind, whatever becomes of us: the link goes with the sandbox's network, and the rules with the
// socket they were made through.
Result<std::unique_ptr<Provider>> lay_link(const NetworkPlan& plan, int pid);

}  // namespace coop::run
