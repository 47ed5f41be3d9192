// Checks of settings against each other and against the files of this machine.
#include <algorithm>
#include <optional>
#include <set>

#include "policy/builtin.h"
#include "policy/merge/compare.h"
#include "policy/merge/merge.h"
#include "policy/people/check_list.h"
#include "policy/quoted.h"
#include "report/words/words.h"

namespace coop::policy {

namespace {

// Whether a list has an item that satisfies `wanted`, for this section: in itself, in [sandbox],
// or, for an override, in an agent's.
template <typename Wanted>
bool any_item(const Config& config, const Section& section, Key key, Wanted wanted) {
  const auto has = [&](const Settings& settings) {
    return std::ranges::any_of(items_of(settings, key), wanted);
  };
  if (has(*section.settings) || has(config.sandbox)) return true;
  return section.is_override && std::ranges::any_of(config.agents, has, &Agent::sandbox);
}

void check_host_network(const Config& config, const Section& section, Findings& findings) {
  const auto granted = [](const Item& item) { return item.text == "host_network"; };
  if (any_item(config, section, Key::unsafe_grants, granted)) return;
  add_finding(findings, Severity::error, "sandbox_network",
              section.settings->at(Key::network).origin,
              section.whose +
                  ": network \"host\" shares every service of this machine, and is "
                  "not confirmed",
              "use network = \"full\", or add unsafe = [\"host_network\"] to [sandbox]");
}

void check_allow_list(const Config& config, const Section& section, Findings& findings) {
  const auto any = [](const Item&) { return true; };
  if (any_item(config, section, Key::network_allow, any)) return;
  if (any_item(config, section, Key::network_udp, any)) return;
  add_finding(findings, Severity::warning, "sandbox_network",
              section.settings->at(Key::network).origin,
              section.whose + ": network \"allowlist\" with nothing allowed denies everything",
              "list the hosts that may be reached, or say network = \"none\"");
}

// With an open network, names cannot be denied.
void check_open_network(const Section& section, Findings& findings) {
  const std::vector<Item>& denied = items_of(*section.settings, Key::network_deny);
  for (const Written& written : as_written(Key::network_deny, denied)) {
    const Item& item = written.items.front();
    if (item.destination && item.destination->kind != Destination::Kind::network)
      add_finding(findings, Severity::error, "sandbox_network", item.origin,
                  section.whose + ": " + shortened(written.text) +
                      " is a name, and an open network cannot keep a name out",
                  "deny its addresses, or say network = \"allowlist\"");
  }
}

// A socket is checked where it is listed; the grant may be in [sandbox] too.
void check_control_sockets(const Config& config, const Section& section, Findings& findings) {
  const auto granted = [](const Item& item) { return item.text == "control_sockets"; };
  if (any_item(config, section, Key::unsafe_grants, granted)) return;
  for (const Item& item : items_of(*section.settings, Key::sockets))
    if (const std::optional<std::string> reason = control_socket_reason(item.path))
      add_finding(findings, Severity::error, "sandbox_paths", item.origin,
                  section.whose + ": the socket " + quote(item.path) + " controls this machine (" +
                      *reason + "), and is not confirmed",
                  "remove it, or add unsafe = [\"control_sockets\"] to [sandbox]");
}

PathKind kind_of(const HostFacts& host, const Path& path) {
  const auto found = host.paths.find(path);
  return found == host.paths.end() ? PathKind::missing : found->second.target_kind;
}

struct ListedPath {
  Key key;
  const Item* item;
};

// The paths that must exist, in the order of the keys.
std::vector<ListedPath> listed_paths(const Config& config) {
  std::vector<ListedPath> listed;
  for (const Section& section : sandbox_sections(config))
    for (const auto& [key, setting] : *section.settings)
      for (const Item& item : setting.items)
        if (is_path_list(key) && !item.pattern && item.if_missing != Missing::skip)
          listed.push_back({key, &item});
  return listed;
}

struct Workspace {
  Path path;
  Origin origin;
  std::string whose;
};

// Each directory once: an agent without its own uses that of [sandbox].
std::vector<Workspace> workspaces(const Config& config) {
  std::vector<Workspace> found;
  std::set<std::string_view> seen;
  if (const std::string_view common = word_of(config.sandbox, Key::workspace); !common.empty()) {
    found.push_back({Path(common), config.sandbox.at(Key::workspace).origin, "[sandbox]"});
    seen.insert(common);
  }
  for (const Section& section : sandbox_sections(config)) {
    if (section.agent == nullptr || section.agent->workspace.empty()) continue;
    if (!seen.insert(section.agent->workspace).second) continue;
    const Origin origin{.scope = Scope::config, .file = config.file, .at = section.agent->at};
    found.push_back({section.agent->workspace, origin, section.whose});
  }
  return found;
}

}  // namespace

std::vector<Path> paths_to_check(const Config& config) {
  std::set<Path> paths;
  for (Workspace& workspace : workspaces(config)) paths.insert(std::move(workspace.path));
  for (const ListedPath& listed : listed_paths(config)) paths.insert(listed.item->path);
  return {paths.begin(), paths.end()};
}

void check_network(const Config& config, const CheckFacts& facts, Findings& findings) {
  for (const Section& section : all_sections(config)) {
    const std::string_view network = word_of(*section.settings, Key::network);
    if (network == "host") check_host_network(config, section, findings);
    if (network == "allowlist") check_allow_list(config, section, findings);
    if (network == "full" || network == "veth") check_open_network(section, findings);
    if (network == "veth" && facts.host.uid != 0)
      add_finding(findings, Severity::error, "sandbox_network",
                  section.settings->at(Key::network).origin,
                  section.whose + ": network \"veth\" needs root",
                  "use network = \"full\" or \"allowlist\", which do not");
    check_control_sockets(config, section, findings);
  }
}

void check_paths(const Config& config, const CheckFacts& facts, Findings& findings) {
  for (const Workspace& workspace : workspaces(config)) {
    const PathKind kind = kind_of(facts.host, workspace.path);
    if (kind == PathKind::directory) continue;
    add_finding(findings, Severity::error, "sandbox_paths", workspace.origin,
                workspace.whose + ": the workspace " + quote(workspace.path) +
                    (kind == PathKind::missing ? " does not exist" : " is not a directory"),
                "create the directory, or name one that is there");
  }
  for (const auto& [key, item] : listed_paths(config))
    if (kind_of(facts.host, item->path) == PathKind::missing)
      add_finding(findings, is_restricting(key) ? Severity::warning : Severity::error,
                  "sandbox_paths", item->origin,
                  std::string(info(key).name) + ": " + quote(item->path) + " does not exist",
                  "correct the path, or end it with \"?\" if it may be missing");
}

void check_overrides(const Config& config, Findings& findings) {
  for (const Section& section : override_sections(config))
    for (const Refusal& wider : widenings(config.sandbox, *section.settings))
      add_finding(findings, Severity::info, "sandbox_overrides", wider.origin,
                  section.whose + " has " + std::string(info(wider.key).name) + " = " +
                      wider.asked + ", which is wider than " + wider.limit + " (" +
                      report::in_words(wider.limit_origin) + ")");
}

}  // namespace coop::policy
