#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "host/machine/local_routes.h"
#include "host/machine/networks.h"
#include "host/probe.h"

namespace coop::host {

namespace {

// Of IPv4 and IPv6; empty for other families, which have no networks.
std::string bytes_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    const in_addr& four = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    return {reinterpret_cast<const char*>(&four), sizeof four};
  }
  if (address->sa_family != AF_INET6) return {};
  const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return {reinterpret_cast<const char*>(&six), sizeof six};
}

// Without a mask, the address alone.
Prefix network_of(const std::string& address, const std::string& mask) {
  if (mask.size() != address.size()) return prefix_of(address);
  unsigned bits = 0;
  for (const char byte : mask)
    bits += static_cast<unsigned>(std::countl_one(static_cast<unsigned char>(byte)));
  return prefix_of(address, bits);
}

}  // namespace

Result<std::vector<Prefix>> machine_networks() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_error("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<Prefix> networks;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const std::string address = bytes_of(entry->ifa_addr);
    if (address.empty()) continue;
    Prefix network = network_of(address, bytes_of(entry->ifa_netmask));
    if (std::ranges::find(networks, network) == networks.end())
      networks.push_back(std::move(network));
  }
  // Most are those of addresses.
  for (const auto& read : {local_routes, on_link_routes}) {
    const std::vector<Prefix> routes = TRY(read());
    for (const Prefix& route : routes)
      if (std::ranges::none_of(networks,
                               [&](const Prefix& network) { return is_within(route, network); }))
        networks.push_back(route);
  }
  return networks;
}

Result<void> inspect_networks(HostFacts& facts) {
  facts.networks = TRY(machine_networks());
  return {};
}

}  // namespace coop::host
