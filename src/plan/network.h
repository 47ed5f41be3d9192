// The network of a sandbox, as far as it is planned: who listens inside, what leads where, and the files that names are
// looked up by.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/layout.h"
#include "plan/plan.h"

namespace coop::plan {

// What is at these places inside is ours to say, in every mode that has names.
inline constexpr std::array<const char*, 3> kNameFiles{"/etc/resolv.conf", "/etc/hosts",
                                                       "/etc/nsswitch.conf"};

// Refuses what cannot work, and what would be weaker than it reads.
Result<void> check_network(const Policy& policy, const HostFacts& host);

// The steps that come right after the loopback interface, and what the supervisor does for them.
void add_network(Plan& plan, const Policy& policy, const HostFacts& host);

// resolv.conf, hosts and nsswitch.conf, right for the mode.
void add_name_files(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                    std::vector<std::string>& notes);

// HTTP_PROXY and its like, for programs that want a proxy; the policy's own values win.
void add_proxy_variables(std::map<std::string, std::string>& environment, const Policy& policy);

// Unix sockets of the host that the policy lists.
Result<void> add_socket_grants(std::vector<Entry>& entries, const Policy& policy,
                               const HostFacts& host);

}  // namespace coop::plan
