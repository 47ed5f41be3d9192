#include <algorithm>
#include <charconv>
#include <optional>

#include "base/path.h"
#include "policy/apply.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "policy/port_rule.h"

namespace coop::policy {

namespace {

constexpr std::string_view kCacheFlag = "--cache ";

Origin flag(std::string_view name) {
  return {.scope = Scope::command_line, .file = std::string(name)};
}

// "--rw" is a flag; "/etc/coop/policy.toml:3" a line of a file.
Origin origin_of(const std::string& text) {
  if (text.starts_with("--")) return flag(text);
  Origin origin{.scope = Scope::user, .file = text};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return origin;
  const char* const end = text.data() + text.size();
  int line = 0;
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, line);
  if (error != std::errc{} || stop != end) return origin;
  origin.file.resize(colon);
  origin.at.line = line;
  return origin;
}

Origin origin_of(const PathRule& rule) {
  Origin origin = origin_of(rule.origin);
  if (rule.final && origin.scope == Scope::user) origin.scope = Scope::organisation;
  return origin;
}

std::optional<Key> key_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::read_only: return Key::readable_paths;
    case RuleKind::read_write: return Key::writable_paths;
    case RuleKind::overlay: return Key::overlay_paths;
    case RuleKind::hide: return Key::hidden_paths;
    case RuleKind::protect: return Key::protected_paths;
    case RuleKind::tmpfs: return std::nullopt;  // shows nothing of the host
  }
  return std::nullopt;
}

void add_item(Settings& settings, Key key, Item item) {
  Setting& setting = settings[key];
  if (setting.items.empty()) setting.origin = item.origin;
  setting.items.push_back(std::move(item));
}

// A relative path means something only once the workspace is known, and in the workspace a rule shows
// nothing that is not there anyway. Both are left to the planner, which holds every rule against the
// bounds again, by the path it really leads to.
bool is_for_the_planner(const Policy& policy, const PathRule& rule) {
  if (!rule.path.starts_with('/')) return true;
  return policy.workspace_access == Access::read_write && policy.workspace.starts_with('/') &&
         is_within(rule.path, policy.workspace);
}

void add_rule(Settings& settings, const Policy& policy, const PathRule& rule) {
  const std::optional<Key> key = key_of(rule.kind);
  if (!key || rule.origin == "built-in secrets") return;
  if (rule.origin.starts_with(kCacheFlag)) {
    const std::string name = rule.origin.substr(kCacheFlag.size());
    const std::vector<Item>& known = settings[Key::cache_volumes].items;
    if (std::ranges::find(known, name, &Item::text) == known.end())
      add_item(settings, Key::cache_volumes, Item{.text = name, .origin = flag("--cache")});
    return;
  }
  if (is_for_the_planner(policy, rule)) return;
  add_item(settings, *key,
           Item{.text = rule.path,
                .path = rule.path,
                .pattern = rule.pattern,
                .if_missing = rule.if_missing,
                .origin = origin_of(rule)});
}

void add_names(Settings& settings, Key key, const std::vector<std::string>& names,
               std::string_view origin) {
  for (const std::string& name : names)
    add_item(settings, key, Item{.text = name, .origin = flag(origin)});
}

Scalar limit_of(const std::optional<std::uint64_t>& limit) {
  if (limit) return *limit;
  return Unlimited{};
}

void add_limits(Settings& settings, const Limits& limits) {
  settings[Key::memory] = {.value = limit_of(limits.memory), .origin = flag("--memory")};
  settings[Key::pids_limit] = {.value = limit_of(limits.pids), .origin = flag("--pids")};
  settings[Key::cpus] = {.value = limit_of(limits.milli_cpus), .origin = flag("--cpus")};
  settings[Key::tmp_size] = {.value = limits.tmp_size, .origin = flag("--tmp-size")};
  settings[Key::output_limit] = {.value = limits.output_limit, .origin = flag("--output-limit")};
  Setting& timeout = settings[Key::timeout];
  timeout = {.value = Unlimited{}, .origin = flag("--timeout")};
  if (limits.timeout)
    timeout.value = static_cast<std::uint64_t>(std::max<std::int64_t>(limits.timeout->count(), 0));
}

void add_need(Settings& settings, Key key, Need need) {
  settings[key] = {.value = need == Need::required ? "required" : "best_effort",
                   .origin = flag("--best-effort")};
}

void add_hosts(Settings& settings, Key key, const std::vector<HostRule>& rules) {
  for (const HostRule& rule : rules)
    add_item(settings, key, Item{.text = rule.pattern, .origin = origin_of(rule.origin)});
}

void add_sockets(Settings& settings, const std::vector<SocketRule>& sockets) {
  bool controls = false;
  for (const SocketRule& socket : sockets) {
    add_item(settings, Key::sockets,
             Item{.text = socket.path, .path = socket.path, .origin = origin_of(socket.origin)});
    controls = controls || control_socket_reason(socket.path).has_value();
  }
  if (controls) add_names(settings, Key::unsafe_grants, {"control_sockets"}, "--unsafe");
}

// The flag that a mode beyond the ceiling is blamed on: a list of hosts on the command line turns "none"
// into "allowlist".
std::string_view flag_of_mode(const Policy& policy) {
  const auto on_command_line = [](const HostRule& rule) { return rule.origin.starts_with("--"); };
  if (policy.network != NetworkMode::allowlist) return "--network";
  if (std::ranges::any_of(policy.allow_net, on_command_line)) return "--allow-net";
  return std::ranges::any_of(policy.allow_udp, on_command_line) ? "--allow-udp" : "--network";
}

void add_network(Settings& settings, const Policy& policy) {
  settings[Key::network] = {.value = std::string(to_text(policy.network)),
                            .origin = flag(flag_of_mode(policy))};
  if (policy.network == NetworkMode::host)
    add_names(settings, Key::unsafe_grants, {"host_network"}, "--unsafe");
  add_hosts(settings, Key::network_allow, policy.allow_net);
  add_hosts(settings, Key::network_deny, policy.deny_net);
  add_hosts(settings, Key::network_udp, policy.allow_udp);
  for (const PublishedPort& port : policy.publish)
    add_item(settings, Key::network_publish,
             Item{.text = to_text(port), .origin = origin_of(port.origin)});
  for (const HostPort& port : policy.host_ports)
    add_item(settings, Key::network_host_ports,
             Item{.text = std::to_string(port.port), .origin = origin_of(port.origin)});
  add_sockets(settings, policy.sockets);
}

// The caches that the organisation itself names are trees like those of its writable_paths; as rules
// they can no longer be told apart.
Settings with_bounds(const Settings& ceiling, const Bounds& bounds) {
  Settings extended = ceiling;
  const auto writable = extended.find(Key::writable_paths);
  const auto bound = writable != extended.end() ? writable : extended.find(Key::readable_paths);
  if (bound == extended.end() || !bounds.writable) return extended;
  std::vector<Item>& items = bound->second.items;
  for (const Path& tree : *bounds.writable)
    if (std::ranges::find(items, tree, &Item::path) == items.end())
      items.push_back(Item{.text = tree, .path = tree, .origin = bound->second.origin});
  return extended;
}

}  // namespace

Settings settings_of(const Policy& policy) {
  Settings settings;
  settings[Key::view] = {.value = std::string(to_text(policy.view)), .origin = flag("--view")};
  add_network(settings, policy);
  settings[Key::debug] = {.value = policy.debugging == Debugging::allowed,
                          .origin = flag("--debug")};
  add_limits(settings, policy.limits);
  add_need(settings, Key::landlock, policy.need(Mechanism::landlock));
  add_need(settings, Key::proc, policy.need(Mechanism::proc));
  add_need(settings, Key::limits, policy.need(Mechanism::limits));
  for (const PathRule& rule : policy.rules) add_rule(settings, policy, rule);
  add_names(settings, Key::env_pass, policy.pass_environment, "--pass-env");
  add_names(settings, Key::env_unsafe, policy.unsafe_environment, "--unsafe-env");
  for (const auto& [name, value] : policy.set_environment)
    add_item(settings, Key::env_set, Item{.text = name, .value = value, .origin = flag("--env")});
  return settings;
}

Result<void> check_ceiling(const Policy& policy, const Settings& ceiling) {
  const std::vector<Refusal> refused =
      beyond(with_bounds(ceiling, policy.bounds), settings_of(policy));
  if (refused.empty()) return {};
  const Refusal& first = refused.front();
  return invalid(
      to_text(first.origin),
      printable(first.asked) + " is beyond the organisation's " + printable(first.limit),
      "the limit is set in " + to_text(first.limit_origin) + ", and only that file can widen it");
}

}  // namespace coop::policy
