// The network part of making a Policy: modes, hosts, ports and sockets.
#pragma once

#include "base/result.h"
#include "coop/policy.h"
#include "policy/settings/settings.h"

namespace coop::policy {

// Adds the settings for network and sockets to `policy`. The host's network and sockets that
// control the machine need their word in `unsafe`; without it, and for contradictory rules, an
// error names the file and line. With the mode "none" allow lists are dropped, so that later
// additions are the whole list. Deny lists are always kept.
Result<void> apply_network(const Settings& settings, Policy& policy);

// Contradictory network rules: deny, publish or host port rules with the host's own network, a port
// published twice, a port that is forwarded both ways.
Result<void> check_network_rules(const Policy& policy);

}  // namespace coop::policy
