// Whether destinations cover each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "coop/destination.h"

namespace coop::policy {

// The meaning of a rule without a port: ports 80 and 443 for allowed destinations, every port for
// denied ones.
enum class Portless : std::uint8_t { usual, every };

inline constexpr std::array<std::uint16_t, 2> kUsualPorts{80, 443};
constexpr bool is_usual_port(std::uint16_t port) {
  return std::ranges::find(kUsualPorts, port) != kUsualPorts.end();
}

// Whether `cover` covers everything that `item` names.
bool covers(const Destination& cover, const Destination& item, Portless portless);
// The same, whatever the ports.
bool covers_host(const Destination& cover, const Destination& item);

// "localhost", the names below it, loopback addresses, and 0.0.0.0 and ::, which the kernel connects to loopback.
bool is_loopback(const Destination& destination);
// Of these, where a port of the host is found inside.
bool is_localhost(const Destination& destination);

}  // namespace coop::policy
