#include "host/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace coop::host {

namespace {

using Bytes = std::array<std::uint8_t, 16>;

// How many bytes an address of this family has; 0 for families without networks.
std::size_t take(const sockaddr* from, Bytes& into) {
  if (from->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(from);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&four->sin_addr), 4, into.begin());
    return 4;
  }
  if (from->sa_family != AF_INET6) return 0;
  std::ranges::copy(reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr.s6_addr, into.begin());
  return 16;
}

// An address and its mask as "192.168.1.0/24"; empty for other families.
std::string network_of(const sockaddr* address, const sockaddr* mask) {
  Bytes bytes{};
  Bytes bits{};
  const std::size_t size = take(address, bytes);
  if (size == 0) return {};
  bits.fill(0xff);
  if (mask != nullptr && mask->sa_family == address->sa_family) take(mask, bits);
  unsigned length = 0;
  for (std::size_t index = 0; index < size; ++index) {
    bytes.at(index) &= bits.at(index);
    for (unsigned bit = 0x80; bit != 0 && (bits.at(index) & bit) != 0; bit >>= 1U) ++length;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return std::string(text.data()) + "/" + std::to_string(length);
}

}  // namespace

Result<void> inspect_networks(HostFacts& facts) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_error("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    std::string network = network_of(entry->ifa_addr, entry->ifa_netmask);
    if (!network.empty() && std::ranges::find(facts.networks, network) == facts.networks.end())
      facts.networks.push_back(std::move(network));
  }
  return {};
}

}  // namespace coop::host
