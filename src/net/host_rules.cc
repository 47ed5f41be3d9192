#include "net/host_rules.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/address.h"
#include "policy/forbidden_addresses.h"
#include "policy/host_cover.h"

namespace coop::net {

namespace {

const HostRule* find_rule(const std::vector<HostRule>& rules, std::string_view item,
                          policy::Portless portless) {
  const auto found = std::ranges::find_if(rules, [&](const HostRule& rule) {
    return policy::host_covers(rule.pattern, item, portless);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::string text_of(const HostRule& rule) { return rule.origin + " " + rule.pattern; }

// "example.com:8443" → "example.com": the name alone, whatever the ports.
std::string without_port(std::string_view pattern) {
  const bool network = pattern.find('/') != std::string_view::npos;
  const std::size_t colon = pattern.rfind(':');
  const bool named = colon != std::string_view::npos && pattern.find(':') == colon;
  return std::string(named && !network ? pattern.substr(0, colon) : pattern);
}

// "10.0.0.0/8" as it is; "10.0.0.1:80", "10.0.0.0/8:80" and "[fd00::1]:80" without the port.
std::string network_of(const std::string& pattern) {
  if (pattern.starts_with('[')) return pattern.substr(1, pattern.find(']') - 1);
  const std::size_t slash = pattern.find('/');
  if (slash != std::string::npos) return pattern.substr(0, pattern.find(':', slash));
  return without_port(pattern);
}

}  // namespace

std::string with_port(std::string_view host, std::uint16_t port) {
  const bool bracketed = host.find(':') != std::string_view::npos;
  return (bracketed ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(port);
}

HostVerdict judge(const HostRules& rules, std::string_view host, std::uint16_t port) {
  const std::string item = with_port(host, port);
  if (const HostRule* rule = find_rule(rules.denied, item, policy::Portless::every))
    return {.denied = true, .rule = text_of(*rule)};
  if (const HostRule* rule = find_rule(rules.allowed, item, policy::Portless::usual))
    return {.allowed = true, .rule = text_of(*rule)};
  return {.rule = std::string(kNoRule), .grant = grant_for(host, port)};
}

std::string grant_for(std::string_view host, std::uint16_t port) {
  const std::string reason = address_bytes(host) ? policy::why_forbidden(host) : std::string();
  if (reason.contains("loopback") || reason.contains("this machine"))
    return "--host-port " + std::to_string(port);
  // Nobody is told how to open the door to a machine's own credentials; 198.18.0.0/15 and its like lead nowhere.
  for (const char* word : {"metadata", "credentials", "benchmarks", "IPv4 address in"})
    if (reason.contains(word)) return {};
  const bool usual = port == 80 || port == 443;
  return "--allow-net " + (usual ? std::string(host) : with_port(host, port));
}

bool opens_forbidden(const HostRules& rules, std::string_view address, std::uint16_t port) {
  const std::string item = with_port(address, port);
  if (find_rule(rules.denied, item, policy::Portless::every) != nullptr) return false;
  return std::ranges::any_of(rules.allowed, [&](const HostRule& rule) {
    if (!policy::host_covers(rule.pattern, item, policy::Portless::usual)) return false;
    const std::string network = network_of(rule.pattern);
    if (policy::host_covers(address, network, policy::Portless::every)) return true;  // it alone
    for (const int family : {AF_INET, AF_INET6})
      for (const auto& [first, bits] : policy::forbidden_networks(family))
        if (policy::host_covers(first + "/" + std::to_string(bits), network,
                                policy::Portless::every))
          return true;
    return false;
  });
}

bool may_resolve(const HostRules& rules, std::string_view name) {
  const std::string plain(name);
  if (find_rule(rules.denied, plain, policy::Portless::every) != nullptr) return false;
  return std::ranges::any_of(rules.allowed, [&](const HostRule& rule) {
    return policy::host_covers(without_port(rule.pattern), plain, policy::Portless::every);
  });
}

}  // namespace coop::net
