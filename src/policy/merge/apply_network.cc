#include "policy/merge/apply_network.h"

#include <algorithm>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/destinations/port_rule.h"
#include "policy/policy.h"
#include "policy/quoted.h"
#include "report/words/words.h"

namespace coop::policy {

namespace {

bool is_confirmed(const Settings& settings, std::string_view word) {
  const std::vector<Item>& words = items_of(settings, Key::unsafe_grants);
  return std::ranges::find(words, word, &Item::text) != words.end();
}

Result<void> apply_mode(const Settings& settings, Policy& policy) {
  const auto setting = settings.find(Key::network);
  if (setting == settings.end()) return {};
  const std::string* mode = std::get_if<std::string>(&setting->second.value);
  if (mode == nullptr) return {};
  const Origin& place = setting->second.origin;
  policy.network = TRY(with_context(place, parse_network(*mode)));
  if (policy.network != NetworkMode::host || is_confirmed(settings, "host_network")) return {};
  return invalid(place,
                 "network = \"host\" shares the host's network with the sandbox, its localhost "
                 "services included",
                 "add unsafe = [\"host_network\"] if that is meant");
}

// An item that was never parsed would deny nothing.
Result<void> add_hosts(std::vector<DestinationRule>& rules, const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (!item.destination) return invalid(item.origin, quoted(item.text) + " was not parsed");
    rules.push_back({*item.destination, item.origin});
  }
  return {};
}

Result<void> add_ports(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::network_publish)) {
    PublishedPort port = TRY(with_context(item.origin, parse_published(item.text)));
    port.origin = item.origin;
    policy.publish.push_back(std::move(port));
  }
  for (const Item& item : items_of(settings, Key::network_host_ports)) {
    const std::uint16_t port = TRY(with_context(item.origin, parse_port(item.text)));
    policy.host_ports.push_back(HostPort{.port = port, .origin = item.origin});
  }
  return {};
}

Result<void> add_sockets(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::sockets)) {
    const std::optional<std::string> reason = control_socket_reason(item.path);
    if (reason && !is_confirmed(settings, "control_sockets"))
      return invalid(item.origin,
                     "sockets: " + quoted(item.path) + " controls this machine: " + *reason,
                     "add unsafe = [\"control_sockets\"] if that is meant");
    policy.sockets.push_back(SocketRule{.path = item.path, .origin = item.origin});
  }
  return {};
}

// Settings without effect: coop cannot filter or relay the host's own network.
Result<void> check_beside_host(const Policy& policy) {
  constexpr std::string_view kHint = "choose another network than \"host\", or leave it out";
  if (!policy.deny_net.empty()) {
    const DestinationRule& first = policy.deny_net.front();
    return invalid(first.origin,
                   quoted(to_text(first.destination)) +
                       " cannot be denied with the host's network, which coop does not filter",
                   kHint);
  }
  if (!policy.publish.empty()) {
    const PublishedPort& first = policy.publish.front();
    return invalid(first.origin,
                   to_text(first) +
                       " cannot be published with the host's network: the sandbox has the host's "
                       "ports already",
                   kHint);
  }
  if (!policy.host_ports.empty()) {
    const HostPort& first = policy.host_ports.front();
    return invalid(first.origin,
                   "port " + std::to_string(first.port) +
                       " is there already with the host's network, as all of them are",
                   kHint);
  }
  return {};
}

Result<void> check_ports(const Policy& policy) {
  for (auto port = policy.publish.begin(); port != policy.publish.end(); ++port) {
    const auto same = [&](const PublishedPort& other) {
      return other.address == port->address && other.host == port->host;
    };
    const auto first = std::find_if(policy.publish.begin(), port, same);
    if (first != port)
      return invalid(port->origin,
                     host_side(*port) + " is published twice (" + report::in_words(first->origin) +
                         ": " + to_text(*first) + ")",
                     "choose another port of the host for one of them");
    // Otherwise a connection to one would be forwarded to the other, possibly in an endless loop.
    const auto back = std::ranges::find(policy.host_ports, port->sandbox, &HostPort::port);
    if (back != policy.host_ports.end())
      return invalid(port->origin,
                     "port " + std::to_string(port->sandbox) +
                         " of the sandbox is published, and leads to the host (" +
                         report::in_words(back->origin) + ")",
                     "use two ports of the sandbox");
  }
  return {};
}

}  // namespace

Result<void> apply_network(const Settings& settings, Policy& policy) {
  TRY(apply_mode(settings, policy));
  if (policy.network != NetworkMode::none) {
    TRY(add_hosts(policy.allow_net, items_of(settings, Key::network_allow)));
    TRY(add_hosts(policy.allow_udp, items_of(settings, Key::network_udp)));
  }
  TRY(add_hosts(policy.deny_net, items_of(settings, Key::network_deny)));
  TRY(add_ports(settings, policy));
  TRY(add_sockets(settings, policy));
  return check_network_rules(policy);
}

Result<void> check_network_rules(const Policy& policy) {
  if (policy.network == NetworkMode::host) TRY(check_beside_host(policy));
  return check_ports(policy);
}

}  // namespace coop::policy
