// Which hosts a sandbox may speak to, by name or address, and by which rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coop/policy.h"

namespace coop::net {

struct HostRules {
  std::vector<HostRule> allowed{};
  std::vector<HostRule> denied{};  // these win
};

inline constexpr std::string_view kNoRule = "no rule allows it";

struct HostVerdict {
  bool allowed = false;
  bool denied = false;  // by a rule, not for want of one
  std::string rule{};   // the origin and pattern that decided; kNoRule where none does
  std::string
      grant{};  // the smallest that would allow it; empty where it is allowed, or denied by a rule
  bool operator==(const HostVerdict&) const = default;
};

// "example.com:80", "[::1]:80".
std::string with_port(std::string_view host, std::uint16_t port);

// `host` is a name as host_name() spells it, or an address as inet_ntop() does.
HostVerdict judge(const HostRules& rules, std::string_view host, std::uint16_t port);

// "--allow-net example.com", or with the port where that is not a usual one.
std::string grant_for(std::string_view host, std::uint16_t port);

// Whether a rule opens this address although it is one that nobody should reach (net/addresses.h, net/own_address.h): by
// naming it, or a network that lies in the forbidden one. "0.0.0.0/0" is the internet, not this machine.
bool opens_forbidden(const HostRules& rules, std::string_view address, std::uint16_t port);

// Whether any port of this name may be reached: what its DNS question is answered by.
bool may_resolve(const HostRules& rules, std::string_view name);

}  // namespace coop::net
