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

Result<void> apply_mode(const Settings& settings, Policy& policy) {
  const std::string_view mode = word_of(settings, Key::network);
  if (mode.empty()) return {};
  const Origin& place = settings.at(Key::network).origin;
  policy.network = TRY(with_context(place, parse_network(mode)));
  if (policy.network != NetworkMode::host || has_item(settings, Key::unsafe_grants, "host_network"))
    return {};
  return invalid(place,
                 "network = \"host\" shares the host's network with the sandbox, its localhost "
                 "services included",
                 "add unsafe = [\"host_network\"] if you intend this");
}

// An item that was never parsed would deny nothing.
template <typename T>
Result<T> parsed(const Item& item, const std::optional<T>& value) {
  if (!value) return invalid(item.origin, quote(item.text) + " was not parsed");
  return *value;
}

Result<void> add_hosts(std::vector<DestinationRule>& rules, const std::vector<Item>& items) {
  for (const Item& item : items) {
    Destination destination = TRY(parsed(item, item.destination));
    rules.push_back({std::move(destination), item.origin});
  }
  return {};
}

Result<void> add_ports(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::network_publish)) {
    PublishedPort port = TRY(parsed(item, item.published));
    port.origin = item.origin;
    policy.publish.push_back(std::move(port));
  }
  for (const Item& item : items_of(settings, Key::network_host_ports)) {
    const std::uint16_t port = TRY(parsed(item, item.port));
    policy.host_ports.push_back(HostPort{.port = port, .origin = item.origin});
  }
  return {};
}

Result<void> add_sockets(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::sockets)) {
    const std::optional<std::string> reason = control_socket_reason(item.path);
    if (reason && !has_item(settings, Key::unsafe_grants, "control_sockets"))
      return invalid(item.origin,
                     "sockets: " + quote(item.path) + " controls this machine: " + *reason,
                     "add unsafe = [\"control_sockets\"] if you intend this");
    policy.sockets.push_back(SocketRule{.path = item.path, .origin = item.origin});
  }
  return {};
}

// Settings without effect: coop cannot filter or relay the host's own network.
Result<void> check_beside_host(const Policy& policy) {
  const auto refused = [](const auto& first, const std::string& why) {
    return invalid(first.origin, why, "choose another network than \"host\", or leave it out");
  };
  if (!policy.deny_net.empty())
    return refused(policy.deny_net.front(),
                   quote(to_text(policy.deny_net.front().destination)) +
                       " cannot be denied with the host's network, which coop does not filter");
  if (!policy.publish.empty())
    return refused(policy.publish.front(),
                   to_text(policy.publish.front()) +
                       " cannot be published with the host's network: the sandbox has the host's "
                       "ports already");
  if (!policy.host_ports.empty())
    return refused(policy.host_ports.front(),
                   "port " + std::to_string(policy.host_ports.front().port) +
                       " is there already with the host's network, as all of them are");
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
