#include "policy/destinations/judge.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/address.h"
#include "policy/destinations/cover.h"

namespace coop::policy {

namespace {

using Kind = Destination::Kind;
using Unlisted = DestinationRules::Unlisted;

int family_of(const Prefix& prefix) { return prefix.address.size() == 4 ? AF_INET : AF_INET6; }

const DestinationRule* find_rule(const std::vector<DestinationRule>& rules,
                                 const Destination& asked, Portless portless) {
  const auto found = std::ranges::find_if(rules, [&](const DestinationRule& rule) {
    return covers(rule.destination, asked, portless);
  });
  return found == rules.end() ? nullptr : &*found;
}

// A rule about 10.0.0.1 also denies ::ffff:10.0.0.1, which the kernel connects to the same place.
const DestinationRule* find_denial(const DestinationRules& rules, const Destination& asked) {
  if (const DestinationRule* rule = find_rule(rules.denied, asked, Portless::every)) return rule;
  const std::string_view plain = unmapped(asked.network.address);
  if (!asked.network.is_address() || plain.size() == asked.network.address.size()) return nullptr;
  const Destination four{.kind = Kind::network, .network = prefix_of(plain), .port = asked.port};
  return find_rule(rules.denied, four, Portless::every);
}

std::optional<Forbidden> why_refused(const DestinationRules& rules, const Prefix& network,
                                     const AddressGuard& guard) {
  if (std::optional<Forbidden> found = network.is_address() ? guard(network) : forbidden(network))
    return found;
  for (const Prefix& neighbour : rules.neighbours)
    if (neighbour.bits > 0 && overlap(network, neighbour))
      return Forbidden{.reason = "in a network of this machine"};
  return std::nullopt;
}

bool is_opened(const DestinationRules& rules, const Destination& asked, const Forbidden& why) {
  std::vector<Prefix> refused = refused_networks(family_of(asked.network), rules.neighbours);
  if (why.network) refused.push_back(*why.network);
  return std::ranges::any_of(rules.allowed, [&](const DestinationRule& rule) {
    return covers(rule.destination, asked, Portless::usual) && opens(rule.destination, refused);
  });
}

// Inside, localhost is the sandbox: it leads to the host only for forwarded ports.
Verdict judge_loopback(const SandboxNetwork& network, const Destination& asked) {
  const auto leads = [&](const HostPort& port) { return asked.port == port.port; };
  if (is_localhost(asked) && std::ranges::any_of(network.host_ports, leads))
    return {.reason = Reason::host_port};
  return {.reason = Reason::inside, .remedy = Remedy::host_port};
}

}  // namespace

bool Verdict::allowed() const {
  return reason == Reason::allowed || reason == Reason::open || reason == Reason::host_port ||
         reason == Reason::shared_network || reason == Reason::datagrams;
}

SandboxNetwork sandbox_network(const Policy& policy, const std::vector<Prefix>& neighbours) {
  SandboxNetwork network{.mode = policy.network,
                         .connections = {.allowed = policy.allow_net, .denied = policy.deny_net},
                         .datagrams = {.allowed = policy.allow_udp,
                                       .denied = policy.deny_net,
                                       .remedy = Remedy::allow_udp},
                         .host_ports = policy.host_ports};
  if (policy.network == NetworkMode::full || policy.network == NetworkMode::veth) {
    network.connections.unlisted = Unlisted::open;
    network.connections.neighbours = neighbours;
  }
  return network;
}

Verdict judge_found(const DestinationRules& rules, const Destination& address,
                    const AddressGuard& guard) {
  if (const DestinationRule* rule = find_denial(rules, address))
    return {.reason = Reason::denied, .rule = rule};
  const std::optional<Forbidden> refused = why_refused(rules, address.network, guard);
  if (!refused || is_opened(rules, address, *refused)) return {.reason = Reason::open};
  return {.reason = Reason::guarded, .address_is = refused->reason, .remedy = refused->remedy};
}

Verdict judge(const DestinationRules& rules, const Destination& asked, const AddressGuard& guard) {
  if (const DestinationRule* rule = find_denial(rules, asked))
    return {.reason = Reason::denied, .rule = rule};
  const DestinationRule* rule = find_rule(rules.allowed, asked, Portless::usual);
  if (rule == nullptr && rules.unlisted == Unlisted::refused) {
    const std::optional<Forbidden> known =
        asked.kind == Kind::network ? forbidden(asked.network) : std::nullopt;
    const bool better =
        known && (known->remedy == Remedy::none || rules.remedy == Remedy::allow_net);
    return {.reason = Reason::unlisted, .remedy = better ? known->remedy : rules.remedy};
  }
  if (asked.kind == Kind::network)
    if (Verdict found = judge_found(rules, asked, guard); !found.allowed()) return found;
  // Only the address decides: a name may resolve to anything.
  if (rule == nullptr ||
      (rules.unlisted == Unlisted::open && rule->destination.kind != Kind::network))
    return {.reason = Reason::open};
  return {.reason = Reason::allowed, .rule = rule};
}

bool may_resolve(const DestinationRules& rules, std::string_view name) {
  const Destination asked{.name = std::string(name)};
  if (find_rule(rules.denied, asked, Portless::every) != nullptr) return false;
  return std::ranges::any_of(rules.allowed, [&](const DestinationRule& rule) {
    return covers_host(rule.destination, asked);
  });
}

bool opens(const Destination& rule, const std::vector<Prefix>& refused) {
  if (rule.kind != Kind::network) return false;
  return rule.network.is_address() || std::ranges::any_of(refused, [&](const Prefix& network) {
           return is_within(rule.network, network);
         });
}

std::vector<Prefix> refused_networks(int family, const std::vector<Prefix>& neighbours) {
  std::vector<Prefix> networks = forbidden_networks(family);
  for (const Prefix& neighbour : neighbours)
    if (neighbour.bits > 0 && family_of(neighbour) == family) networks.push_back(neighbour);
  return networks;
}

std::vector<Prefix> not_refused_yet(const std::vector<Prefix>& neighbours,
                                    std::vector<Prefix> now) {
  std::ranges::stable_sort(now, {}, &Prefix::bits);
  std::vector<Prefix> known = neighbours;
  std::vector<Prefix> missing;
  for (const Prefix& network : now) {
    const auto holds = [&](const Prefix& refused) { return is_within(network, refused); };
    if (network.bits == 0 ||
        std::ranges::any_of(refused_networks(family_of(network), known), holds))
      continue;
    known.push_back(network);
    missing.push_back(network);
  }
  return missing;
}

bool stands_for_names(const Destination& asked) {
  static const Destination kFour{.kind = Kind::network,
                                 .network = parse_prefix("198.18.0.0/15").value_or(Prefix{})};
  static const Destination kSix{.kind = Kind::network,
                                .network = parse_prefix("fdc0:6f70::/32").value_or(Prefix{})};
  return covers_host(kFour, asked) || covers_host(kSix, asked);
}

Verdict judge_inside(const SandboxNetwork& network, const Destination& asked,
                     const AddressGuard& guard) {
  if (network.mode == NetworkMode::host) return {.reason = Reason::shared_network};
  if (is_loopback(asked)) return judge_loopback(network, asked);
  if (network.mode == NetworkMode::none) {
    const DestinationRule* rule = find_denial(network.connections, asked);
    return {.reason = rule != nullptr ? Reason::denied : Reason::no_network, .rule = rule};
  }
  const bool address = asked.kind == Kind::network;
  const bool open = network.mode != NetworkMode::allowlist;
  const Verdict verdict = judge(network.connections, asked, guard);
  if (verdict.reason == Reason::denied) return verdict;
  if (address && !open && stands_for_names(asked)) return {.reason = Reason::name_addresses};
  if (address && open && asked.network.is_address())
    if (const std::optional<Forbidden> found = guard(asked.network); found && found->machine)
      return {.reason = Reason::machine, .address_is = found->reason, .remedy = Remedy::host_port};
  if (verdict.allowed()) {
    const bool carried = network.mode != NetworkMode::veth || asked.network.address.size() != 16;
    return carried ? verdict : Verdict{.reason = Reason::only_ipv4};
  }
  if (open || !address) return verdict;
  Verdict datagrams = judge(network.datagrams, asked, guard);
  if (datagrams.allowed()) return {.reason = Reason::datagrams, .rule = datagrams.rule};
  return verdict;
}

Destination address_destination(std::string_view bytes, std::uint16_t port) {
  return {.kind = Kind::network, .network = prefix_of(bytes), .port = port};
}

Destination name_destination(std::string_view name, std::uint16_t port) {
  return {.kind = Kind::name, .name = std::string(name), .port = port};
}

Rule rule_of(const Verdict& verdict) {
  if (verdict.rule != nullptr) return {verdict.rule->origin, verdict.rule->destination};
  return Rule::of_coop(verdict.reason == Reason::guarded ? Part::address_guard : Part::unlisted);
}

std::optional<Grant> grant_for(Remedy remedy, const Destination& asked) {
  const bool usual = !asked.port || is_usual_port(*asked.port);
  switch (remedy) {
    case Remedy::none: return std::nullopt;
    case Remedy::allow_net: return Grant{"--allow-net", usual ? host_text(asked) : to_text(asked)};
    case Remedy::allow_udp: return Grant{"--allow-udp", to_text(asked)};
    case Remedy::host_port:
      return Grant{"--host-port", asked.port ? std::to_string(*asked.port) : std::string("PORT")};
  }
  return std::nullopt;
}

}  // namespace coop::policy
