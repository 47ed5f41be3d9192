#include "policy/apply_network.h"

#include <algorithm>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "policy/port_rule.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

const std::vector<Item>& items_of(const Settings& settings, Key key) {
  static const std::vector<Item> kNone;
  const auto found = settings.find(key);
  return found == settings.end() ? kNone : found->second.items;
}

bool is_confirmed(const Settings& settings, std::string_view word) {
  const std::vector<Item>& words = items_of(settings, Key::unsafe_grants);
  return std::ranges::find(words, word, &Item::text) != words.end();
}

Result<void> apply_mode(const Settings& settings, Policy& policy) {
  const auto setting = settings.find(Key::network);
  if (setting == settings.end()) return {};
  const std::string* mode = std::get_if<std::string>(&setting->second.value);
  if (mode == nullptr) return {};
  const std::string place = to_text(setting->second.origin);
  policy.network = TRY(with_context(place, parse_network(*mode)));
  if (policy.network != NetworkMode::host || is_confirmed(settings, "host_network")) return {};
  return invalid(place,
                 "network = \"host\" shares the host's network with the sandbox, its localhost "
                 "services included",
                 "add unsafe = [\"host_network\"] if that is meant");
}

void add_hosts(std::vector<HostRule>& rules, const std::vector<Item>& items) {
  for (const Item& item : items)
    rules.push_back(HostRule{.pattern = item.text, .origin = to_text(item.origin)});
}

Result<void> add_ports(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::network_publish)) {
    const std::string place = to_text(item.origin);
    PublishedPort port = TRY(with_context(place, parse_published(item.text)));
    port.origin = place;
    policy.publish.push_back(std::move(port));
  }
  for (const Item& item : items_of(settings, Key::network_host_ports)) {
    const std::string place = to_text(item.origin);
    const std::uint16_t port = TRY(with_context(place, parse_port(item.text)));
    policy.host_ports.push_back(HostPort{.port = port, .origin = place});
  }
  return {};
}

Result<void> add_sockets(const Settings& settings, Policy& policy) {
  for (const Item& item : items_of(settings, Key::sockets)) {
    const std::optional<std::string> reason = control_socket_reason(item.path);
    if (reason && !is_confirmed(settings, "control_sockets"))
      return invalid(to_text(item.origin),
                     "sockets: " + quoted(item.path) + " controls this machine: " + *reason,
                     "add unsafe = [\"control_sockets\"] if that is meant");
    policy.sockets.push_back(SocketRule{.path = item.path, .origin = to_text(item.origin)});
  }
  return {};
}

// What would be said and not done. Nothing of the host's own network is ours to filter or to relay.
Result<void> check_beside_host(const Policy& policy) {
  constexpr std::string_view kHint = "choose another network than \"host\", or leave it out";
  if (!policy.deny_net.empty()) {
    const HostRule& first = policy.deny_net.front();
    return invalid(first.origin,
                   quoted(first.pattern) +
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
      return invalid(
          port->origin,
          host_side(*port) + " is published twice (" + first->origin + ": " + to_text(*first) + ")",
          "choose another port of the host for one of them");
    // Else whoever connects to the one is led to the other, and from there maybe back again, without end.
    const auto back = std::ranges::find(policy.host_ports, port->sandbox, &HostPort::port);
    if (back != policy.host_ports.end())
      return invalid(port->origin,
                     "port " + std::to_string(port->sandbox) +
                         " of the sandbox is published, and leads to the host (" + back->origin +
                         ")",
                     "use two ports of the sandbox");
  }
  return {};
}

}  // namespace

Result<void> apply_network(const Settings& settings, Policy& policy) {
  TRY(apply_mode(settings, policy));
  if (policy.network != NetworkMode::none) {
    add_hosts(policy.allow_net, items_of(settings, Key::network_allow));
    add_hosts(policy.allow_udp, items_of(settings, Key::network_udp));
  }
  add_hosts(policy.deny_net, items_of(settings, Key::network_deny));
  TRY(add_ports(settings, policy));
  TRY(add_sockets(settings, policy));
  return check_network_rules(policy);
}

Result<void> check_network_rules(const Policy& policy) {
  if (policy.network == NetworkMode::host) TRY(check_beside_host(policy));
  return check_ports(policy);
}

}  // namespace coop::policy
