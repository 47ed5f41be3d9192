#include "cli/network_flags.h"

#include <algorithm>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/destinations/port_rule.h"
#include "policy/policy.h"

namespace coop::cli {

namespace {

using policy::Item;
using policy::Key;
using Value = std::string_view;

// Prefixes the error of a value with its flag.
template <typename T>
Result<T> of_flag(Value flag, Result<T> result) {
  if (!result) result.error().operation = flag;
  return result;
}

const std::vector<Item>& items_of(const Options& options, Key key) {
  static const std::vector<Item> kNone;
  const auto found = options.wanted.flags.find(key);
  return found == options.wanted.flags.end() ? kNone : found->second.items;
}

bool has_item(const Options& options, Key key, std::string_view text) {
  const std::vector<Item>& items = items_of(options, key);
  return std::ranges::find(items, text, &Item::text) != items.end();
}

// What --network says; null without one.
const std::string* mode_of(const Options& options) {
  const auto found = options.wanted.flags.find(Key::network);
  return found == options.wanted.flags.end() ? nullptr
                                             : std::get_if<std::string>(&found->second.value);
}

Result<void> add_destination(Options& options, Key key, Value flag, Result<Destination> parsed) {
  Destination destination = TRY(of_flag(flag, std::move(parsed)));
  std::string text = to_text(destination);
  add_item(options, key, flag, {.text = std::move(text), .destination = std::move(destination)});
  return {};
}

Result<void> check_sockets(const Options& options) {
  if (has_item(options, Key::unsafe_grants, "control_sockets")) return {};
  for (const Item& socket : items_of(options, Key::sockets))
    if (const std::optional<std::string> reason = policy::control_socket_reason(socket.text))
      return invalid("--socket",
                     "\"" + printable(socket.text) + "\" controls this machine: " + *reason,
                     "add --unsafe control_sockets if that is meant");
  return {};
}

}  // namespace

void add_item(Options& options, Key key, Value flag, Item item) {
  item.origin = Origin::of_flag(flag);
  policy::Setting& setting = options.wanted.flags[key];
  setting.origin = item.origin;
  setting.items.push_back(std::move(item));
}

Result<void> choose_network(Options& options, Value flag, Value value) {
  // "bridge" is the word of older gateways.
  const NetworkMode mode = TRY(of_flag(flag, parse_network(value == "bridge" ? "full" : value)));
  options.wanted.flags[Key::network] = {.value = std::string(to_text(mode)),
                                        .origin = Origin::of_flag(flag)};
  return {};
}

Result<void> allow_host(Options& options, Value flag, Value value) {
  return add_destination(options, Key::network_allow, flag, parse_destination(value));
}

Result<void> deny_host(Options& options, Value flag, Value value) {
  return add_destination(options, Key::network_deny, flag, parse_destination(value));
}

Result<void> allow_udp(Options& options, Value flag, Value value) {
  return add_destination(options, Key::network_udp, flag, parse_udp_destination(value));
}

Result<void> publish(Options& options, Value flag, Value value) {
  const PublishedPort port = TRY(of_flag(flag, policy::parse_published(value)));
  std::string text = policy::to_text(port);
  if (has_item(options, Key::network_publish, text))
    return invalid(
        flag,
        policy::host_side(port) + " is published twice (" + std::string(flag) + ": " + text + ")",
        "choose another port of the host for one of them");
  add_item(options, Key::network_publish, flag, {.text = std::move(text)});
  return {};
}

Result<void> allow_host_port(Options& options, Value flag, Value value) {
  const std::uint16_t port = TRY(of_flag(flag, policy::parse_port(value)));
  add_item(options, Key::network_host_ports, flag, {.text = std::to_string(port)});
  return {};
}

Result<void> add_socket(Options& options, Value flag, Value value) {
  if (value.empty()) return invalid(flag, "the path is empty");
  add_item(options, Key::sockets, flag, {.text = std::string(value)});
  return {};
}

Result<void> confirm_grant(Options& options, Value flag, Value word) {
  if (word != "host_network" && word != "control_sockets")
    return invalid(flag, "\"" + printable(word) + "\" is not a dangerous grant",
                   "host_network or control_sockets");
  add_item(options, Key::unsafe_grants, flag, {.text = std::string(word)});
  return {};
}

Result<void> check_lists(const Options& options, NetworkMode mode) {
  constexpr std::array kLists{std::pair("--allow-net", Key::network_allow),
                              std::pair("--deny-net", Key::network_deny),
                              std::pair("--allow-udp", Key::network_udp)};
  for (const auto& [flag, key] : kLists)
    if (mode == NetworkMode::host && !items_of(options, key).empty())
      return invalid(flag, "would restrict nothing with the host's network",
                     "use --network allowlist or full, or leave it out");
  const bool open = mode == NetworkMode::full || mode == NetworkMode::veth;
  if (open && !items_of(options, Key::network_udp).empty())
    return invalid("--allow-udp",
                   "is for --network allowlist; with " + std::string(to_text(mode)) +
                       " UDP goes where TCP goes",
                   "leave it out, or name private networks with --allow-net");
  return {};
}

Result<void> check_flags(const Options& options) {
  const std::string* mode = mode_of(options);
  const bool hosts = !items_of(options, Key::network_allow).empty();
  if (mode != nullptr && *mode == "host" && !has_item(options, Key::unsafe_grants, "host_network"))
    return invalid("--network host",
                   "shares the host's network with the sandbox, its localhost services included",
                   "add --unsafe host_network if that is meant");
  if (mode != nullptr && *mode == "none" && (hosts || !items_of(options, Key::network_udp).empty()))
    return invalid(hosts ? "--allow-net" : "--allow-udp",
                   "contradicts --network none, which reaches nothing",
                   "leave --network out, or write --network allowlist");
  if (mode != nullptr) {
    const NetworkMode named = TRY(parse_network(*mode));
    TRY(check_lists(options, named));
  }
  return check_sockets(options);
}

}  // namespace coop::cli
