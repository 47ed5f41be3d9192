#include "run/freeze_network.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/address.h"
#include "net/addressing.h"
#include "net/nftables.h"
#include "policy/forbidden_addresses.h"

namespace coop::run {

namespace {

constexpr std::uint32_t kLoopback = 1;  // its number in every network
constexpr std::uint16_t kDnsPort = 53;
constexpr std::int32_t kBeforeRouting = -100;  // where nftables' own NAT chains stand
constexpr std::array kFamilies{AF_INET, AF_INET6};

int family_of(const std::string& bytes) { return bytes.size() == 4 ? AF_INET : AF_INET6; }

NetlinkMessages messages(int protocol, const net::NetlinkBatch& batch) {
  return {
      .protocol = protocol, .bytes = batch.bytes(), .acknowledgements = batch.acknowledgements()};
}

std::string bytes_of(const std::string& address) {
  return address_bytes(address).value_or(std::string());
}

// "10.0.0.0/8", "10.0.0.1"; nothing when it is a name.
std::optional<net::Prefix> prefix_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<std::string> bytes = address_bytes(std::string(text.substr(0, slash)));
  if (!bytes) return std::nullopt;
  net::Prefix prefix{.address = *bytes, .bits = static_cast<unsigned>(bytes->size() * 8)};
  if (slash != std::string_view::npos)
    if (const auto read =
            std::from_chars(text.data() + slash + 1, text.data() + text.size(), prefix.bits);
        read.ptr != text.data() + text.size())
      return std::nullopt;  // there is a port behind it
  return prefix;
}

// A rule's network and port, "10.0.0.0/8", "10.0.0.1:5432", "[fd00::1]:80".
struct Place {
  net::Prefix prefix{};
  std::optional<std::uint16_t> port{};
};
std::optional<Place> place_of(std::string_view pattern) {
  if (const std::optional<net::Prefix> whole = prefix_of(pattern)) return Place{.prefix = *whole};
  if (pattern.starts_with('[') && pattern.ends_with(']'))
    return place_of(pattern.substr(1, pattern.size() - 2));
  const std::size_t colon = pattern.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = pattern.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::optional<net::Prefix> prefix = prefix_of(host);
  std::uint16_t port = 0;
  std::from_chars(pattern.data() + colon + 1, pattern.data() + pattern.size(), port);
  if (!prefix || port == 0) return std::nullopt;
  return Place{*prefix, port};
}

net::Prefix loopback(int family) {
  if (family == AF_INET) return {.address = std::string("\x7f\0\0\0", 4), .bits = 8};
  std::string address(16, '\0');
  address.back() = 1;
  return {.address = std::move(address), .bits = 128};
}

// What an entry without a port allows.
constexpr std::array<std::uint16_t, 2> kUsualPorts{80, 443};

// Where rules about neighbours stand.
struct Chain {
  net::Ruleset& rules;
  std::string name;
  std::string in;  // the interface; empty: any
  std::vector<net::Prefix> refused{};
};

net::Match match(const Chain& chain, const net::Prefix& destination) {
  return {.destination = destination, .in = chain.in};
}

bool lies_in(const net::Prefix& prefix, const net::Prefix& outer) {
  if (prefix.bits < outer.bits || prefix.address.size() != outer.address.size()) return false;
  for (unsigned bit = 0; bit < outer.bits; ++bit)
    if (((prefix.address[bit / 8] ^ outer.address[bit / 8]) & (0x80 >> bit % 8)) != 0) return false;
  return true;
}

// Of one family: what nobody should reach.
std::vector<net::Prefix> refused_prefixes(int family, const std::vector<std::string>& networks) {
  std::vector<net::Prefix> prefixes;
  for (const auto& [network, bits] : policy::forbidden_networks(family))
    prefixes.push_back({bytes_of(network), bits});
  for (const std::string& network : networks)
    if (const std::optional<net::Prefix> prefix = prefix_of(network);
        prefix && prefix->bits > 0 && family_of(prefix->address) == family)
      prefixes.push_back(*prefix);
  return prefixes;
}

void allow(const Chain& chain, const Place& place) {
  // The rest of the internet needs no grant, and what is wider than a refused network does not name it.
  if (std::ranges::none_of(chain.refused, [&](const net::Prefix& refused) {
        return lies_in(place.prefix, refused);
      }))
    return;
  const auto accept = [&](std::uint8_t protocol, std::uint16_t port) {
    net::Match wanted = match(chain, place.prefix);
    wanted.protocol = protocol;
    wanted.port = port;
    chain.rules.accept(chain.name, wanted);
  };
  if (!place.port)
    for (const std::uint16_t port : kUsualPorts) accept(IPPROTO_TCP, port);
  else
    for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) accept(protocol, *place.port);
}

void deny(const Chain& chain, const Place& place) {
  net::Match wanted = match(chain, place.prefix);
  if (!place.port) return chain.rules.reject(chain.name, wanted);
  wanted.port = place.port;
  for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
    wanted.protocol = protocol;
    chain.rules.reject(chain.name, wanted);
  }
}

void for_family(const std::vector<HostRule>& list, int family, const Chain& chain,
                void (*add)(const Chain&, const Place&)) {
  for (const HostRule& rule : list)
    if (const std::optional<Place> place = place_of(rule.pattern);
        place && family_of(place->prefix.address) == family)
      add(chain, *place);
}

// IPv6 finds the next machine by asking all of them.
void accept_neighbour_discovery(net::Ruleset& rules) {
  for (const char* place : {"ff02::/16", "fe80::/10"})
    rules.accept("output", {.destination = prefix_of(place), .protocol = IPPROTO_ICMPV6});
}

}  // namespace

std::vector<NetlinkMessages> messages_for(const OwnAddresses& addresses) {
  net::NetlinkBatch batch;
  for (const std::string& text : addresses.own) {
    const std::string bytes = bytes_of(text);
    net::add_address(batch, kLoopback, bytes, static_cast<std::uint8_t>(bytes.size() * 8));
  }
  for (const std::string& text : addresses.own)
    if (addresses.everything) net::add_local_default(batch, kLoopback, bytes_of(text));
  return {messages(NETLINK_ROUTE, batch)};
}

std::vector<NetlinkMessages> messages_for(const RedirectTraffic& redirect) {
  std::vector<NetlinkMessages> all;
  for (const std::string& text : redirect.own) {
    const std::string own = bytes_of(text);
    const int family = family_of(own);
    const std::array<net::Match, 2> inside{
        net::Match{.destination = loopback(family)},
        net::Match{.destination = net::Prefix{own, static_cast<unsigned>(own.size() * 8)}}};
    net::Ruleset rules(family, "coop");
    rules.add_chain("output", {"nat", NF_INET_LOCAL_OUT, kBeforeRouting});
    // Before the other chain gives them new addresses.
    rules.add_chain("datagrams", {"filter", NF_INET_LOCAL_OUT, kBeforeRouting - 1});
    // First, since every packet comes by here.
    rules.accept("datagrams", {.protocol = IPPROTO_TCP});
    for (const char* chain : {"output", "datagrams"})
      for (const net::Match& match : inside) rules.accept(chain, match);
    // Whichever name server a program believes in, it asks ours.
    for (const std::uint8_t protocol : {IPPROTO_UDP, IPPROTO_TCP})
      rules.send_to("output", {.protocol = protocol, .port = kDnsPort}, own, kDnsPort);
    rules.send_to("output", {.protocol = IPPROTO_TCP}, own, redirect.connections);
    rules.accept("datagrams", {.protocol = IPPROTO_UDP, .port = kDnsPort});
    // To whoever listens inside: as little as anything else does it leave.
    rules.accept("datagrams",
                 {.destination = prefix_of(family == AF_INET ? "224.0.0.0/4" : "ff00::/8")});
    for (const DatagramRule& rule : redirect.datagrams) {
      const std::optional<net::Prefix> prefix = prefix_of(rule.network);
      if (!prefix || family_of(prefix->address) != family) continue;
      const net::Match match{.destination = prefix, .protocol = IPPROTO_UDP, .port = rule.port};
      // The address stays as it is: that is how the relay learns it.
      rules.send_to("output", match, {}, rule.listener);
      rules.accept("datagrams", match);
    }
    // Whoever sends one hears of it at once. That nobody listens is told only to those who have connected their socket.
    rules.drop("datagrams", {.protocol = IPPROTO_UDP});
    for (const net::NetlinkBatch& batch : rules.finish())
      all.push_back(messages(NETLINK_NETFILTER, batch));
  }
  return all;
}

void add_neighbour_rules(net::Ruleset& rules, int family, const std::string& chain,
                         const std::string& in, const Neighbours& neighbours) {
  const Chain place{rules, chain, in, refused_prefixes(family, neighbours.networks)};
  for_family(neighbours.denied, family, place, deny);
  for_family(neighbours.allowed, family, place, allow);
  for (const net::Prefix& prefix : place.refused) rules.reject(chain, match(place, prefix));
}

std::vector<NetlinkMessages> messages_for(const RefuseNeighbours& refuse) {
  std::vector<NetlinkMessages> all;
  for (const int family : kFamilies) {
    if (family == AF_INET6 && !refuse.ipv6) continue;
    net::Ruleset rules(family, "coop");
    rules.add_chain("output", {"filter", NF_INET_LOCAL_OUT, 0});
    rules.accept("output", {.out = "lo"});
    if (family == AF_INET6) accept_neighbour_discovery(rules);
    add_neighbour_rules(rules, family, "output", "",
                        {refuse.networks, refuse.allowed, refuse.denied});
    for (const net::NetlinkBatch& batch : rules.finish())
      all.push_back(messages(NETLINK_NETFILTER, batch));
  }
  return all;
}

std::vector<NetlinkMessages> messages_for(const ConfigureLink& link) {
  net::NetlinkBatch batch;
  net::raise_link(batch, link.link);
  net::add_address(batch, link.link, bytes_of(link.address), link.prefix);
  net::add_default_route(batch, link.link, bytes_of(link.gateway));
  return {messages(NETLINK_ROUTE, batch)};
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
