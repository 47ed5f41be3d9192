// Freezes the network steps of a plan into the netlink messages and sockets of the child.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "plan/plan.h"
#include "sys/netlink/nftables.h"

namespace coop::run {

struct NetlinkMessages {
  int protocol = 0;  // NETLINK_ROUTE or NETLINK_NETFILTER
  netlink::NetlinkBatch batch{};
};

std::vector<NetlinkMessages> messages_for(const AssignAddresses& addresses);
std::vector<NetlinkMessages> messages_for(const RedirectTraffic& redirect);
std::vector<NetlinkMessages> messages_for(const RefuseNeighbours& refuse);
std::vector<NetlinkMessages> messages_for(const ConfigureLink& link);

// Private, local and metadata addresses are refused in `chain`, for packets from the interface `in` (empty: any).
struct Neighbours {
  const std::vector<Prefix>& networks;  // this machine's
  const std::vector<DestinationRule>& allowed;
  const std::vector<DestinationRule>& denied;
};
void add_neighbour_rules(netlink::Ruleset& rules, int family, const std::string& chain,
                         const std::string& in, const Neighbours& neighbours);

// Behind those rules: refuses further networks, see policy::not_refused_yet(). What is denied and the single addresses that
// are allowed have their rules already; a network that is allowed has none yet if it is a part of a further one.
void add_further_rules(netlink::Ruleset& rules, int family, const std::string& chain,
                       const std::string& in, const Neighbours& further);
// The same for the rules inside.
std::vector<netlink::NetlinkBatch> further_rules(const Neighbours& further);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int type = SOCK_STREAM;
};
SocketAddress socket_address(const Listener& listener);

}  // namespace coop::run
