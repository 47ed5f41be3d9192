#include "policy/merge/bounded.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "policy/builtin.h"
#include "policy/destinations/port_rule.h"
#include "policy/merge/apply.h"
#include "policy/merge/apply_network.h"
#include "policy/merge/compare.h"
#include "policy/merge/policy_fields.h"
#include "policy/policy.h"
#include "report/words/words.h"

namespace coop::policy {

namespace {

void add_item(Settings& settings, Key key, Item item) {
  Setting& setting = settings[key];
  if (setting.items.empty()) setting.origin = item.origin;
  setting.items.push_back(std::move(item));
}

void add_names(Settings& settings, Key key, const std::vector<std::string>& names) {
  for (const std::string& name : names) add_item(settings, key, Item{.text = name});
}

// A value that is coop's own default was not asked for.
void add_scalar(Settings& settings, Key key, Scalar value) {
  if (value != built_in(key)) settings[key] = {.value = std::move(value)};
}

void add_hosts(Settings& settings, Key key, const std::vector<DestinationRule>& rules) {
  for (const DestinationRule& rule : rules)
    add_item(settings, key,
             Item{.text = to_text(rule.destination),
                  .destination = rule.destination,
                  .origin = rule.origin});
}

void add_network(Settings& settings, const Policy& policy) {
  add_scalar(settings, Key::network, std::string(to_text(policy.network)));
  if (policy.network == NetworkMode::host)
    add_names(settings, Key::unsafe_grants, {"host_network"});
  add_hosts(settings, Key::network_allow, policy.allow_net);
  add_hosts(settings, Key::network_deny, policy.deny_net);
  add_hosts(settings, Key::network_udp, policy.allow_udp);
  for (const PublishedPort& port : policy.publish)
    add_item(settings, Key::network_publish,
             Item{.text = to_text(port), .published = port, .origin = port.origin});
  for (const HostPort& port : policy.host_ports)
    add_item(settings, Key::network_host_ports,
             Item{.text = std::to_string(port.port), .port = port.port, .origin = port.origin});
  bool controls = false;
  for (const SocketRule& socket : policy.sockets) {
    add_item(settings, Key::sockets,
             Item{.text = socket.path, .path = socket.path, .origin = socket.origin});
    controls = controls || control_socket_reason(socket.path).has_value();
  }
  if (controls) add_names(settings, Key::unsafe_grants, {"control_sockets"});
}

// The caches that the organisation itself names are trees like those of its writable_paths: in a policy made
// from its file they are rules like others.
Settings with_cache_trees(Settings ceiling, const Bounds& bounds) {
  for (const auto& [key, trees] : {std::pair(Key::writable_paths, &bounds.writable),
                                   std::pair(Key::readable_paths, &bounds.readable)}) {
    const auto bound = ceiling.find(key);
    if (bound == ceiling.end() || !*trees) continue;
    std::vector<Item>& items = bound->second.items;
    for (const Path& tree : **trees)
      if (!contains(items, tree, &Item::path))
        items.push_back(Item{.text = tree, .path = tree, .origin = bound->second.origin});
  }
  return ceiling;
}

// `most` is what the organisation's own settings make of a policy.
void narrow(Policy& policy, const Policy& most, const Settings& ceiling) {
  for (const PolicyField& field : policy_fields())
    if (ceiling.contains(field.key) && is_wider(field.key, field.get(policy), field.get(most)))
      field.set(policy, field.get(most));
  policy.bounds = most.bounds;
}

// Only the organisation's rules are final, and no rule but coop's own is built in, whatever a program writes there.
void add_restrictions(Policy& policy, const Policy& most) {
  for (PathRule& rule : policy.rules) {
    if (contains(most.rules, rule)) continue;
    rule.precedence = Precedence::by_order;
    const bool restricts = rule.kind == RuleKind::hide || rule.kind == RuleKind::protect;
    if (rule.origin.scope == Scope::built_in && !restricts) rule.origin.scope = Scope::program;
  }
  std::vector<PathRule> added;
  for (const PathRule& rule : most.rules)
    if (rule.precedence == Precedence::final && !contains(policy.rules, rule))
      added.push_back(rule);
  policy.rules.insert(policy.rules.begin(), added.begin(), added.end());
  for (const DestinationRule& rule : most.deny_net)
    if (!contains(policy.deny_net, rule)) policy.deny_net.push_back(rule);
}

}  // namespace

void add_path_rules(Settings& settings, const std::vector<PathRule>& rules, const Path& workspace) {
  for (const PathRule& rule : rules) {
    const auto list = std::ranges::find(kPathLists, rule.kind, &PathList::kind);
    if (list == kPathLists.end()) continue;
    // A tmpfs in the workspace shows nothing of it: its own key bounds it.
    const bool shown = rule.kind != RuleKind::tmpfs && is_within(rule.path, workspace);
    if (!workspace.empty() && shown) continue;
    add_item(settings, list->key,
             Item{.text = rule.path,
                  .path = rule.path,
                  .pattern = rule.pattern,
                  .if_missing = rule.if_missing,
                  .origin = rule.origin});
  }
}

Settings layer_of(const Policy& policy) {
  Settings settings;
  for (const PolicyField& field : policy_fields())
    add_scalar(settings, field.key, field.get(policy));
  add_network(settings, policy);
  const bool writable = policy.workspace_access == Access::read_write;
  add_path_rules(settings, policy.rules, writable ? policy.workspace : Path{});
  add_names(settings, Key::allow_guarded, policy.allow_guarded);
  add_names(settings, Key::env_pass, policy.pass_environment);
  add_names(settings, Key::env_unsafe, policy.unsafe_environment);
  for (const auto& [name, value] : policy.set_environment)
    add_item(settings, Key::env_set, Item{.text = name, .value = value});
  return settings;
}

Result<Policy> bounded(Policy policy, const Settings& ceiling, const Surroundings& surroundings) {
  if (ceiling.empty()) return policy;
  const Policy most =
      TRY(policy_from(Effective{.settings = ceiling, .ceiling = ceiling}, surroundings));
  const std::vector<Refusal> refused =
      beyond(with_cache_trees(ceiling, most.bounds), layer_of(policy));
  if (!refused.empty()) return std::unexpected(beyond_error(refused.front()));
  narrow(policy, most, ceiling);
  add_restrictions(policy, most);
  TRY(check_network_rules(policy));
  return policy;
}

Result<void> check_environment(const std::map<std::string, std::string>& variables,
                               const Bounds& bounds) {
  if (!bounds.environment && !bounds.variables) return {};
  Settings ceiling;
  if (bounds.environment) ceiling[Key::env_set].origin = bounds.origin;
  if (bounds.variables) ceiling[Key::env_names].origin = bounds.origin;
  for (const auto& [name, value] :
       bounds.environment.value_or(std::map<std::string, std::string>{}))
    add_item(ceiling, Key::env_set, Item{.text = name, .value = value, .origin = bounds.origin});
  for (const std::string& name : bounds.variables.value_or(std::vector<std::string>{}))
    add_item(ceiling, Key::env_names, Item{.text = name, .origin = bounds.origin});
  const std::vector<Refusal> refused =
      beyond(ceiling, layer_of(Policy{.set_environment = variables}));
  if (!refused.empty()) return std::unexpected(beyond_error(refused.front()));
  return {};
}

Error beyond_error(const Refusal& refusal) {
  const std::string key =
      refusal.origin.flag.empty() ? std::string(info(refusal.key).name) + " = " : "";
  return invalid(refusal.origin,
                 key + printable(refusal.asked) + " is beyond the organisation's " +
                     printable(refusal.limit),
                 refusal.limit_origin.file.empty()
                     ? "only the organisation's policy file can allow it"
                     : "the limit is set in " + report::in_words(refusal.limit_origin) +
                           ", and only that file can widen it")
      .error();
}

}  // namespace coop::policy
