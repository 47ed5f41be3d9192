#include "net/host_rules.h"

#include <algorithm>

#include "policy/host_cover.h"

namespace coop::net {

namespace {

std::string with_port(std::string_view host, std::uint16_t port) {
  const bool bracketed = host.find(':') != std::string_view::npos;
  return (bracketed ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(port);
}

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

}  // namespace

HostVerdict judge(const HostRules& rules, std::string_view host, std::uint16_t port) {
  const std::string item = with_port(host, port);
  if (const HostRule* rule = find_rule(rules.denied, item, policy::Portless::every))
    return {.rule = text_of(*rule)};
  if (const HostRule* rule = find_rule(rules.allowed, item, policy::Portless::usual))
    return {.allowed = true, .rule = text_of(*rule)};
  const bool usual = port == 80 || port == 443;
  return {.rule = "no rule allows it",
          .grant = "--allow-net " + (usual ? std::string(host) : item)};
}

bool may_resolve(const HostRules& rules, std::string_view name) {
  const std::string plain(name);
  if (find_rule(rules.denied, plain, policy::Portless::every) != nullptr) return false;
  return std::ranges::any_of(rules.allowed, [&](const HostRule& rule) {
    return policy::host_covers(without_port(rule.pattern), plain, policy::Portless::every);
  });
}

}  // namespace coop::net
