#include "run/network/freeze.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/address.h"
#include "policy/destinations/cover.h"
#include "policy/destinations/judge.h"
#include "sys/netlink/addressing.h"
#include "sys/netlink/nftables.h"

namespace coop::run {

namespace {

constexpr std::uint32_t kLoopback = 1;  // the ifindex of lo in every network namespace
constexpr std::uint16_t kDnsPort = 53;
constexpr std::int32_t kBeforeRouting = -100;  // NF_IP_PRI_NAT_DST
constexpr std::array kFamilies{AF_INET, AF_INET6};

int family_of(const std::string& bytes) { return bytes.size() == 4 ? AF_INET : AF_INET6; }

void add_rules(std::vector<NetlinkMessages>& all, netlink::Ruleset& rules) {
  for (const netlink::NetlinkBatch& batch : rules.finish())
    all.push_back({NETLINK_NETFILTER, batch});
}

std::string bytes_of(const std::string& address) {
  return address_bytes(address).value_or(std::string());
}

// The chain that rules about local networks are added to.
struct Chain {
  netlink::Ruleset& rules;
  std::string name;
  std::string in;  // the interface; empty: any
  std::vector<Prefix> refused{};
};

netlink::Match match(const Chain& chain, const Prefix& destination) {
  return {.destination = destination, .in = chain.in};
}

void allow(const Chain& chain, const Destination& place) {
  // Public addresses need no rule, and a network wider than a refused one does not name it.
  if (!policy::opens(place, chain.refused)) return;
  const auto accept = [&](std::uint8_t protocol, std::uint16_t port) {
    netlink::Match wanted = match(chain, place.network);
    wanted.protocol = protocol;
    wanted.port = port;
    chain.rules.accept(chain.name, wanted);
  };
  if (!place.port)
    for (const std::uint16_t port : policy::kUsualPorts) accept(IPPROTO_TCP, port);
  else
    for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) accept(protocol, *place.port);
}

void deny(const Chain& chain, const Destination& place) {
  netlink::Match wanted = match(chain, place.network);
  if (!place.port) return chain.rules.reject(chain.name, wanted);
  wanted.port = place.port;
  for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
    wanted.protocol = protocol;
    chain.rules.reject(chain.name, wanted);
  }
}

void for_family(const std::vector<DestinationRule>& list, int family, const Chain& chain,
                void (*add)(const Chain&, const Destination&)) {
  for (const DestinationRule& rule : list)
    if (rule.destination.kind == Destination::Kind::network &&
        family_of(rule.destination.network.address) == family)
      add(chain, rule.destination);
}

// Neighbour discovery of IPv6 is multicast.
void accept_neighbour_discovery(netlink::Ruleset& rules) {
  for (const char* place : {"ff02::/16", "fe80::/10"})
    rules.accept("output", {.destination = parse_prefix(place), .protocol = IPPROTO_ICMPV6});
}

}  // namespace

std::vector<NetlinkMessages> messages_for(const AssignAddresses& addresses) {
  netlink::NetlinkBatch batch;
  for (const std::string& text : addresses.own) {
    const std::string bytes = bytes_of(text);
    netlink::add_address(batch, kLoopback, bytes, static_cast<std::uint8_t>(bytes.size() * 8));
  }
  for (const std::string& text : addresses.own)
    if (addresses.everything) netlink::add_local_default(batch, kLoopback, bytes_of(text));
  return {{NETLINK_ROUTE, batch}};
}

std::vector<NetlinkMessages> messages_for(const RedirectTraffic& redirect) {
  std::vector<NetlinkMessages> all;
  for (const std::string& text : redirect.own) {
    const std::string own = bytes_of(text);
    const int family = family_of(own);
    const std::array<netlink::Match, 2> inside{
        netlink::Match{.destination = parse_prefix(family == AF_INET ? "127.0.0.0/8" : "::1")},
        netlink::Match{.destination = prefix_of(own)}};
    netlink::Ruleset rules(family, "coop");
    rules.add_chain("output", {"nat", NF_INET_LOCAL_OUT, kBeforeRouting});
    // Before the NAT chain changes their addresses.
    rules.add_chain("datagrams", {"filter", NF_INET_LOCAL_OUT, kBeforeRouting - 1});
    // First, since every packet passes here.
    rules.accept("datagrams", {.protocol = IPPROTO_TCP});
    for (const char* chain : {"output", "datagrams"})
      for (const netlink::Match& match : inside) rules.accept(chain, match);
    // Every DNS question goes to our server, whichever server it was sent to.
    for (const std::uint8_t protocol : {IPPROTO_UDP, IPPROTO_TCP})
      rules.send_to("output", {.protocol = protocol, .port = kDnsPort}, own, kDnsPort);
    rules.send_to("output", {.protocol = IPPROTO_TCP}, own, redirect.connections);
    rules.accept("datagrams", {.protocol = IPPROTO_UDP, .port = kDnsPort});
    // Multicast stays inside the namespace, so let it through.
    rules.accept("datagrams",
                 {.destination = parse_prefix(family == AF_INET ? "224.0.0.0/4" : "ff00::/8")});
    for (const DatagramRule& rule : redirect.datagrams) {
      const Destination& place = rule.destination;
      if (family_of(place.network.address) != family) continue;
      const netlink::Match match{
          .destination = place.network, .protocol = IPPROTO_UDP, .port = place.port};
      // The address stays unchanged: the relay reads it with IP_PKTINFO.
      rules.send_to("output", match, {}, rule.listener);
      rules.accept("datagrams", match);
    }
    // Dropping in OUTPUT makes sendto() fail with EPERM at once; an ICMP error reaches connected sockets only.
    rules.drop("datagrams", {.protocol = IPPROTO_UDP});
    add_rules(all, rules);
  }
  return all;
}

void add_neighbour_rules(netlink::Ruleset& rules, int family, const std::string& chain,
                         const std::string& in, const Neighbours& neighbours) {
  const Chain place{rules, chain, in, policy::refused_networks(family, neighbours.networks)};
  for_family(neighbours.denied, family, place, deny);
  for_family(neighbours.allowed, family, place, allow);
  for (const Prefix& prefix : place.refused) rules.reject(chain, match(place, prefix));
}

void add_further_rules(netlink::Ruleset& rules, int family, const std::string& chain,
                       const std::string& in, const Neighbours& further) {
  Chain place{rules, chain, in};
  for (const Prefix& network : further.networks)
    if (family_of(network.address) == family) place.refused.push_back(network);
  const auto is_network = [](const DestinationRule& rule) {
    return !rule.destination.network.is_address();
  };
  std::vector<DestinationRule> allowed;
  std::ranges::copy_if(further.allowed, std::back_inserter(allowed), is_network);
  for_family(allowed, family, place, allow);
  for (const Prefix& prefix : place.refused) rules.reject(chain, match(place, prefix));
}

std::vector<netlink::NetlinkBatch> further_rules(const Neighbours& further) {
  std::vector<netlink::NetlinkBatch> all;
  for (const int family : kFamilies) {
    const auto of_family = [&](const Prefix& network) {
      return family_of(network.address) == family;
    };
    if (std::ranges::none_of(further.networks, of_family)) continue;
    netlink::Ruleset rules(family, "coop");
    add_further_rules(rules, family, "output", "", further);
    for (const netlink::NetlinkBatch& batch : rules.finish()) all.push_back(batch);
  }
  return all;
}

std::vector<NetlinkMessages> messages_for(const RefuseNeighbours& refuse) {
  std::vector<NetlinkMessages> all;
  for (const int family : kFamilies) {
    if (family == AF_INET6 && !refuse.ipv6) continue;
    netlink::Ruleset rules(family, "coop");
    rules.add_chain("output", {"filter", NF_INET_LOCAL_OUT, 0});
    rules.accept("output", {.out = "lo"});
    if (family == AF_INET6) accept_neighbour_discovery(rules);
    add_neighbour_rules(rules, family, "output", "",
                        {refuse.networks, refuse.allowed, refuse.denied});
    add_rules(all, rules);
  }
  return all;
}

std::vector<NetlinkMessages> messages_for(const ConfigureLink& link) {
  netlink::NetlinkBatch batch;
  netlink::raise_link(batch, link.link);
  netlink::add_address(batch, link.link, bytes_of(link.address), link.prefix);
  netlink::add_default_route(batch, link.link, bytes_of(link.gateway));
  return {{NETLINK_ROUTE, batch}};
}

SocketAddress socket_address(const Listener& listener) {
  SocketAddress address;
  address.size = fill_socket_address(address.storage, bytes_of(listener.address), listener.port);
  if (listener.purpose == Listener::Purpose::names ||
      listener.purpose == Listener::Purpose::datagrams)
    address.type = SOCK_DGRAM;
  return address;
}

}  // namespace coop::run
