// The planned part of a sandbox's network: listeners inside, redirections, and the files used for
// name lookup.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/view/layout.h"

namespace coop::plan {

// Replaced inside, except in mode host; nsswitch.conf of the host view only in modes that have names.
inline constexpr std::array<const char*, 3> kNameFiles{"/etc/resolv.conf", "/etc/hosts",
                                                       "/etc/nsswitch.conf"};

// Refuses what cannot work, and what would be weaker than it looks.
Result<void> check_network(const Policy& policy, const HostFacts& host);

// The steps that come right after the loopback interface, and what the supervisor does for them.
void add_network(Plan& plan, const Policy& policy, const HostFacts& host);

// resolv.conf, hosts and nsswitch.conf for the mode.
void add_name_files(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                    std::vector<std::string>& notes);

// HTTP_PROXY and related variables, for programs that use a proxy; the policy's own values win.
void add_proxy_variables(std::map<std::string, std::string>& environment, const Policy& policy);

// Unix sockets of the host that the policy lists.
Result<void> add_socket_grants(std::vector<Entry>& entries, const Policy& policy,
                               const HostFacts& host);

}  // namespace coop::plan
