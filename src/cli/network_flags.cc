#include "cli/network_flags.h"

#include <algorithm>

#include "base/path.h"
#include "policy/apply_network.h"
#include "policy/builtin.h"
#include "policy/host_pattern.h"
#include "policy/policy.h"
#include "policy/port_rule.h"

namespace coop::cli {

namespace {

using Value = std::string_view;

constexpr const char* kAllow = "--allow-net";
constexpr const char* kDeny = "--deny-net";
constexpr const char* kUdp = "--allow-udp";
constexpr const char* kPublish = "--publish";
constexpr const char* kHostPort = "--host-port";
constexpr const char* kSocket = "--socket";

// The error of a value, in the name of its flag.
template <typename T>
Result<T> of_flag(const char* flag, Result<T> result) {
  if (!result) result.error().operation = flag;
  return result;
}

bool has_rule_of(const std::vector<HostRule>& rules, std::string_view flag) {
  return std::ranges::find(rules, flag, &HostRule::origin) != rules.end();
}

bool is_confirmed(const Options& options, std::string_view word) {
  return std::ranges::find(options.unsafe, word) != options.unsafe.end();
}

// Hosts that would be listed for nothing.
Result<void> check_lists(const Options& options) {
  const Policy& policy = options.policy;
  for (const auto& [flag, rules] :
       {std::pair(kAllow, &policy.allow_net), std::pair(kDeny, &policy.deny_net),
        std::pair(kUdp, &policy.allow_udp)})
    if (policy.network == NetworkMode::host && has_rule_of(*rules, flag))
      return invalid(flag, "would restrict nothing with the host's network",
                     "use --network allowlist or full, or leave it out");
  const bool open = policy.network == NetworkMode::full || policy.network == NetworkMode::veth;
  if (open && has_rule_of(policy.allow_udp, kUdp))
    return invalid(kUdp,
                   "is for --network allowlist; with " + std::string(to_text(policy.network)) +
                       " UDP goes where TCP goes",
                   "leave it out, or name private networks with --allow-net");
  return {};
}

Result<void> settle_mode(Options& options) {
  Policy& policy = options.policy;
  const bool hosts = has_rule_of(policy.allow_net, kAllow);
  const bool datagrams = has_rule_of(policy.allow_udp, kUdp);
  if (policy.network != NetworkMode::none || (!hosts && !datagrams)) return {};
  if (options.network == NetworkMode::none)
    return invalid(hosts ? kAllow : kUdp, "contradicts --network none, which reaches nothing",
                   "leave --network out, or write --network allowlist");
  policy.network = NetworkMode::allowlist;
  return {};
}

Result<void> check_sockets(const Options& options) {
  if (is_confirmed(options, "control_sockets")) return {};
  for (const SocketRule& socket : options.policy.sockets) {
    if (socket.origin != kSocket) continue;  // a file's, which had to say so itself
    if (const std::optional<std::string> reason = policy::control_socket_reason(socket.path))
      return invalid(kSocket,
                     "\"" + printable(socket.path) + "\" controls this machine: " + *reason,
                     "add --unsafe control_sockets if that is meant");
  }
  return {};
}

}  // namespace

Result<void> choose_network(Options& options, Value value) {
  // "bridge" is what older gateways say.
  options.network = TRY(of_flag("--network", parse_network(value == "bridge" ? "full" : value)));
  options.policy.network = *options.network;
  return {};
}

Result<void> allow_host(Options& options, Value value) {
  std::string pattern = TRY(of_flag(kAllow, policy::check_host_pattern(value)));
  options.policy.allow_net.push_back({.pattern = std::move(pattern), .origin = kAllow});
  return {};
}

Result<void> deny_host(Options& options, Value value) {
  std::string pattern = TRY(of_flag(kDeny, policy::check_host_pattern(value)));
  options.policy.deny_net.push_back({.pattern = std::move(pattern), .origin = kDeny});
  return {};
}

Result<void> allow_udp(Options& options, Value value) {
  std::string pattern = TRY(of_flag(kUdp, policy::check_udp_pattern(value)));
  options.policy.allow_udp.push_back({.pattern = std::move(pattern), .origin = kUdp});
  return {};
}

Result<void> publish(Options& options, Value value) {
  PublishedPort port = TRY(of_flag(kPublish, policy::parse_published(value)));
  port.origin = kPublish;
  const auto said_by_file = [&](const PublishedPort& known) {
    return known.origin != kPublish && policy::to_text(known) == policy::to_text(port);
  };
  if (std::ranges::none_of(options.policy.publish, said_by_file))
    options.policy.publish.push_back(std::move(port));
  return {};
}

Result<void> allow_host_port(Options& options, Value value) {
  const std::uint16_t port = TRY(of_flag(kHostPort, policy::parse_port(value)));
  std::vector<HostPort>& ports = options.policy.host_ports;
  if (std::ranges::find(ports, port, &HostPort::port) == ports.end())
    ports.push_back({.port = port, .origin = kHostPort});
  return {};
}

Result<void> add_socket(Options& options, Value value) {
  if (value.empty()) return invalid(kSocket, "the path is empty");
  options.policy.sockets.push_back({.path = Path(value), .origin = kSocket});
  return {};
}

Result<void> confirm_grant(Options& options, Value word) {
  if (word != "host_network" && word != "control_sockets")
    return invalid("--unsafe", "\"" + printable(word) + "\" is not a dangerous grant",
                   "host_network or control_sockets");
  options.unsafe.emplace_back(word);
  return {};
}

Result<void> settle_network(Options& options, HostNetwork host_network) {
  const bool granted =
      host_network == HostNetwork::granted_by_file || is_confirmed(options, "host_network");
  if (options.policy.network == NetworkMode::host && !granted)
    return invalid("--network host",
                   "shares the host's network with the sandbox, its localhost services included",
                   "add --unsafe host_network if that is meant");
  TRY(settle_mode(options));
  TRY(check_lists(options));
  TRY(check_sockets(options));
  return policy::check_network_rules(options.policy);
}

}  // namespace coop::cli
