// The steps of a plan's network as what the child sends and opens.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "net/nftables.h"
#include "plan/plan.h"

namespace coop::run {

struct NetlinkMessages {
  int protocol = 0;  // NETLINK_ROUTE or NETLINK_NETFILTER
  std::string bytes{};
  std::uint32_t acknowledgements = 0;
};

std::vector<NetlinkMessages> messages_for(const OwnAddresses& addresses);
std::vector<NetlinkMessages> messages_for(const RedirectTraffic& redirect);
std::vector<NetlinkMessages> messages_for(const RefuseNeighbours& refuse);
std::vector<NetlinkMessages> messages_for(const ConfigureLink& link);

// Private, local and metadata addresses are refused in `chain`, to what came by the interface `in` (empty: any).
struct Neighbours {
  const std::vector<std::string>& networks;  // this machine's
  const std::vector<HostRule>& allowed;
  const std::vector<HostRule>& denied;
};
void add_neighbour_rules(net::Ruleset& rules, int family, const std::string& chain,
                         const std::string& in, const Neighbours& neighbours);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int type = SOCK_STREAM;
};
SocketAddress socket_address(const Listener& listener);

}  // namespace coop::run
