// The network's part of making a Policy: modes, hosts, ports and sockets.
#pragma once

#include "base/result.h"
#include "coop/policy.h"
#include "policy/settings.h"

namespace coop::policy {

// Puts what `settings` say about the network and sockets into `policy`. The host's network and sockets that
// control the machine need their words in `unsafe`; without them, and for rules that cannot hold together,
// an error names the file and line. With the mode "none" no list of hosts is taken over: what is added to
// them later is then all there is. What is denied is always taken over.
Result<void> apply_network(const Settings& settings, Policy& policy);

// Rules of the network that cannot be kept beside each other: something denied, published or let through to
// the host's ports with the host's own network, a port published twice, a port that leads both ways.
Result<void> check_network_rules(const Policy& policy);

}  // namespace coop::policy
