// How the flags about the network and sockets go together.
#include "base/path.h"
#include "cli/flags.h"
#include "policy/builtin.h"
#include "policy/policy.h"

namespace coop::cli {

namespace {

using policy::Item;
using policy::Key;

bool has_any(const Options& options, Key key) { return options.wanted.flags.contains(key); }

bool is_confirmed(const Options& options, std::string_view word) {
  return has_item(options.wanted.flags, Key::unsafe_grants, word);
}

Result<void> check_sockets(const Options& options) {
  if (is_confirmed(options, "control_sockets")) return {};
  for (const Item& socket : items_of(options.wanted.flags, Key::sockets))
    if (const std::optional<std::string> reason = policy::control_socket_reason(socket.text))
      return invalid("--socket",
                     "\"" + printable(socket.text) + "\" controls this machine: " + *reason,
                     "add --unsafe control_sockets if you intend this");
  return {};
}

}  // namespace

Result<void> check_lists(const Options& options, NetworkMode mode) {
  constexpr std::array kLists{std::pair("--allow-net", Key::network_allow),
                              std::pair("--deny-net", Key::network_deny),
                              std::pair("--allow-udp", Key::network_udp)};
  for (const auto& [flag, key] : kLists)
    if (mode == NetworkMode::host && has_any(options, key))
      return invalid(flag, "would restrict nothing with the host's network",
                     "use --network allowlist or full, or leave it out");
  const bool open = mode == NetworkMode::full || mode == NetworkMode::veth;
  if (open && has_any(options, Key::network_udp))
    return invalid("--allow-udp",
                   "is for --network allowlist; with " + std::string(to_text(mode)) +
                       " UDP goes where TCP goes",
                   "leave it out, or name private networks with --allow-net");
  return {};
}

Result<void> check_flags(const Options& options) {
  const std::string_view mode = word_of(options.wanted.flags, Key::network);
  const bool hosts = has_any(options, Key::network_allow);
  if (mode == "host" && !is_confirmed(options, "host_network"))
    return invalid("--network host",
                   "shares the host's network with the sandbox, its localhost services included",
                   "add --unsafe host_network if you intend this");
  if (mode == "none" && (hosts || has_any(options, Key::network_udp)))
    return invalid(hosts ? "--allow-net" : "--allow-udp",
                   "contradicts --network none, which reaches nothing",
                   "leave --network out, or write --network allowlist");
  if (!mode.empty()) {
    const NetworkMode named = TRY(parse_network(mode));
    TRY(check_lists(options, named));
  }
  return check_sockets(options);
}

}  // namespace coop::cli
