#include "request/resolve.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "base/wildcard.h"
#include "host/files/kept_homes.h"
#include "policy/builtin.h"
#include "policy/merge/apply.h"
#include "policy/merge/bounded.h"
#include "policy/policy.h"
#include "policy/settings/json_document.h"
#include "policy/variables.h"

namespace coop::request {

namespace {

using policy::Key;
using policy::Settings;

// Commands need a level of trust that may use bash.
Result<void> check_trust(const ActingAs& acting_as) {
  const policy::Principal& principal = acting_as.principal;
  if (!acting_as.someone || policy::may_use(principal.trust, "bash")) return {};
  return invalid(
      "trust",
      std::string(to_text(principal.trust)) + " may not run commands (" + principal.reason + ")",
      "commands need the trust inner, full or owner; see `coop trust`");
}

// coop.toml assigns trust. One in the workspace may have been written by a sandboxed command or
// come with the repository, so it is used only if it is named.
Result<void> check_place(const ActingAs& acting_as, const Role& role, const HostFacts& facts,
                         const Path& workspace) {
  const Path file = real_workspace(facts, acting_as.config->file);
  if (!role.config.empty() || workspace.empty() || !is_within(file, workspace)) return {};
  return invalid("coop.toml", "\"" + printable(file) + "\" lies in the workspace",
                 "if you trust it, say --config " + printable(file));
}

// The sandbox must not change the files it was made from, wherever symlinks keep them.
void protect(std::vector<PathRule>& rules, const HostFacts& facts, const Path& file) {
  const Path real = real_workspace(facts, file);
  if (!real.empty())
    rules.push_back(PathRule{.kind = RuleKind::protect,
                             .path = real,
                             .if_missing = Missing::skip,
                             .origin = Origin::of_coop(Part::policy_files),
                             .reason = "it rules this sandbox"});
}

Path wanted_workspace(const Wanted& wanted, const ActingAs* acting_as) {
  if (!wanted.workspace.empty()) return wanted.workspace;
  if (acting_as != nullptr && !acting_as->workspace().empty()) return acting_as->workspace();
  return Path(word_of(wanted.settings, Key::workspace));
}

// Hosts to be reached turn the network mode "none" into "allowlist", unless a flag names the mode.
void add_mode(Settings& flags, const policy::Effective& below) {
  if (flags.contains(Key::network)) return;
  const std::string_view mode = word_of(below.settings, Key::network);
  if (!mode.empty() && mode != "none") return;
  for (const Key key : {Key::network_allow, Key::network_udp})
    if (const auto list = flags.find(key); list != flags.end()) {
      flags[Key::network] = {.value = "allowlist", .origin = list->second.items.front().origin};
      return;
    }
}

// The path rules as items, to compare them with the ceiling. The planner judges "..": it compares
// canonical paths with the same bounds.
std::vector<PathRule> absolute_rules(const std::vector<PathRule>& rules, const HostFacts& facts) {
  std::vector<PathRule> result;
  for (PathRule rule : rules) {
    if (rule.kind != RuleKind::tmpfs && ("/" + rule.path + "/").contains("/../")) continue;
    rule.path = normalize(policy::expand_home(rule.path, facts.home), facts.working_directory);
    result.push_back(std::move(rule));
  }
  return result;
}

// Before the merge, so that the organisation's list is compared with each name. A wildcard passes no variable that injects
// code: --unsafe-env lists those by name.
void match_variables(Settings& flags, const HostFacts& facts) {
  const auto passed = flags.find(Key::env_pass);
  if (passed == flags.end()) return;
  std::vector<std::string> unsafe;
  for (const policy::Item& item : policy::items_of(flags, Key::env_unsafe))
    unsafe.push_back(item.text);
  std::vector<policy::Item> items;
  for (const policy::Item& item : passed->second.items) {
    if (!has_wildcard(item.text)) {
      items.push_back(item);
      continue;
    }
    for (const auto& [name, value] : facts.environment) {
      // coop's own are set by coop, and one of them is the token of `coop mcp --http`.
      if (name.starts_with("COOP_") || !matches_wildcard(item.text, name) ||
          !policy::check_variable(name, "", unsafe))
        continue;
      items.push_back(item);
      items.back().text = name;
    }
  }
  passed->second.items = std::move(items);
}

Settings command_line_layer(const Wanted& wanted, const policy::Effective& below,
                            const HostFacts& facts, const Path& workspace) {
  Settings flags = wanted.flags;
  if (const auto sockets = flags.find(Key::sockets); sockets != flags.end())
    for (policy::Item& item : sockets->second.items)
      item.path = normalize(policy::expand_home(item.text, facts.home), facts.working_directory);
  // A shell has expanded the "~" of --allow-guarded ~/.profile.
  if (const auto guards = flags.find(Key::allow_guarded); guards != flags.end())
    for (policy::Item& item : guards->second.items)
      if (is_within(item.text, facts.home) && item.text != facts.home)
        item.text = "~/" + std::string(relative_to(item.text, facts.home));
  match_variables(flags, facts);
  add_mode(flags, below);
  policy::add_path_rules(flags, absolute_rules(wanted.unkeyed.rules, facts), workspace);
  return flags;
}

// Only coop.toml, which assigns the trust, shows secrets to people below full trust.
void add_trust_defaults(policy::Effective& effective, const ActingAs& acting_as) {
  if (!acting_as.someone || acting_as.principal.trust <= policy::TrustLevel::full) return;
  const auto found = effective.settings.find(Key::hide_secrets);
  if (found != effective.settings.end() && found->second.origin.scope >= Scope::config) return;
  effective.settings[Key::hide_secrets] = {.value = true, .origin = Origin::of_coop(Part::trust)};
}

// In a file it is a wish for the host view; on a command line it would have no effect.
Result<void> check_show_home(const Wanted& wanted, const Policy& policy) {
  if (policy.view == View::host || !wanted.flags.contains(Key::show_home)) return {};
  return invalid("--show-home", "has no effect in the minimal view", "add --view host");
}

void note_unmatched_variables(const Wanted& wanted, Policy& policy) {
  for (const policy::Item& item : policy::items_of(wanted.flags, Key::env_pass))
    if (has_wildcard(item.text) &&
        std::ranges::none_of(policy.pass_environment, [&](const std::string& name) {
          return matches_wildcard(item.text, name);
        }))
      policy.notes.push_back("--pass-env \"" + printable(item.text) +
                             "\" passes nothing: no variable that may be passed has such a name");
}

Result<void> check_flags(const policy::Effective& effective) {
  for (const policy::Refusal& refusal : effective.refused)
    if (refusal.origin.scope == Scope::command_line)
      return std::unexpected(policy::beyond_error(refusal));
  return {};
}

void add_unkeyed(Policy& policy, const Policy& unkeyed) {
  policy.workspace_access = unkeyed.workspace_access;
  policy.directory = unkeyed.directory;
  policy.rules.insert(policy.rules.end(), unkeyed.rules.begin(), unkeyed.rules.end());
}

// A harmless path may be a symlink to a socket that controls the machine. A socket of the command
// line must be confirmed there, any other one there or in a file.
Result<void> check_real_sockets(const Resolved& resolved, const Settings& flags,
                                const HostFacts& facts) {
  for (const SocketRule& socket : resolved.policy.sockets) {
    const bool by_flag = socket.origin.scope == Scope::command_line;
    const Path real = real_workspace(facts, policy::expand_home(socket.path, facts.home));
    const std::optional<std::string> reason = policy::control_socket_reason(real);
    if (!reason || has_item(by_flag ? flags : resolved.effective.settings, Key::unsafe_grants,
                            "control_sockets"))
      continue;
    return invalid(socket.origin,
                   "\"" + printable(socket.path) + "\" is \"" + printable(real) +
                       "\", which controls this machine: " + *reason,
                   by_flag ? "add --unsafe control_sockets if you intend this"
                           : "add unsafe = [\"control_sockets\"] if you intend this");
  }
  return {};
}

// Trees besides the workspace that this request makes writable: by files, by a program or by flags.
std::vector<Path> granted_trees(const std::vector<policy::Layer>& layers, const Wanted& wanted,
                                const HostFacts& facts) {
  std::vector<Path> trees;
  const auto add = [&](const policy::Settings& settings) {
    for (const policy::Item& item : policy::items_of(settings, Key::writable_paths))
      trees.push_back(real_workspace(facts, item.path));
  };
  for (const policy::Layer& layer : layers) add(layer.settings);
  add(wanted.settings);
  for (const PathRule& rule : wanted.unkeyed.rules)
    if (rule.kind == RuleKind::read_write)
      trees.push_back(real_workspace(facts, policy::expand_home(rule.path, facts.home)));
  std::erase(trees, Path{});
  return trees;
}

// Only where the sandbox has a network. A home that is not kept has no login.
void publish_login(Applied& preset, std::vector<policy::Layer> layers, const Wanted& wanted,
                   const HostFacts& facts, std::vector<std::string>& notes) {
  layers.push_back(preset.layer);
  layers.push_back({Scope::command_line, wanted.flags});
  const policy::Effective effective = policy::merge(layers, policy::Approval::none);
  const std::string_view mode = word_of(effective.settings, Key::network);
  if (mode.empty() || mode == "none") return;
  const Home home = home_of(word_of(effective.settings, Key::home));
  publish_login_ports(
      preset,
      home.kind == HomeKind::kept ? host::kept_home(facts.state_directory, home.name) : Path{},
      notes);
}

std::vector<policy::Layer> layers_of(const PolicySources& sources, const ActingAs* acting_as) {
  std::vector<policy::Layer> layers = sources.layers();
  if (acting_as == nullptr) return layers;
  layers.push_back(policy::gateway_defaults());
  for (policy::Layer& layer : acting_as->layers()) layers.push_back(std::move(layer));
  return layers;
}

std::vector<Path> files_of(const PolicySources& sources, const ActingAs* acting_as) {
  std::vector<Path> files;
  for (const PolicySource& file : sources.files)
    if (!file.path.empty()) files.push_back(file.path);
  files.push_back(sources.places.approvals);
  if (acting_as != nullptr) files.push_back(acting_as->config->file);
  return files;
}

}  // namespace

Result<Settings> read_json_settings(std::string_view text) {
  if (text.empty()) return Settings{};
  const policy::Table table = TRY(policy::parse_json_document(text, "policy"));
  const HostFacts facts = TRY(surroundings());
  const policy::Source source{.file = "policy",
                              .scope = Scope::program,
                              .shape = policy::Shape::config,
                              .surroundings = surroundings_of(facts, facts.working_directory)};
  policy::Findings findings;
  Settings settings = policy::read_settings(table, source, findings);
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  return settings;
}

policy::Effective effective_of(const PolicySources& sources, const ActingAs* acting_as) {
  policy::Effective effective = policy::merge(layers_of(sources, acting_as), sources.approval);
  if (acting_as != nullptr) add_trust_defaults(effective, *acting_as);
  return effective;
}

Result<Resolved> resolve_layers(std::vector<policy::Layer> below, policy::Approval approval,
                                const Wanted& wanted, const HostFacts& facts,
                                const Path& workspace) {
  if (!wanted.settings.empty()) below.push_back({Scope::program, wanted.settings});
  Resolved resolved{.effective = policy::merge(below, approval)};
  const Settings flags = command_line_layer(wanted, resolved.effective, facts, workspace);
  if (!flags.empty()) {
    below.push_back({Scope::command_line, flags});
    resolved.effective = policy::merge(below, approval);
    TRY(check_flags(resolved.effective));
  }
  resolved.policy = TRY(policy::policy_from(resolved.effective, surroundings_of(facts, workspace)));
  TRY(check_show_home(wanted, resolved.policy));
  add_unkeyed(resolved.policy, wanted.unkeyed);
  note_unmatched_variables(wanted, resolved.policy);
  return resolved;
}

Result<Resolved> resolve(const Wanted& wanted, Purpose purpose) {
  const HostFacts facts = TRY(surroundings());
  std::unique_ptr<ActingAs> acting_as;
  if (wanted.role.any()) {
    acting_as = TRY(act_as(facts, wanted.role, wanted.config));
    if (purpose == Purpose::command) TRY(check_trust(*acting_as));
  }
  const Path named = wanted_workspace(wanted, acting_as.get());
  const Path workspace = real_workspace(facts, named);
  if (named.empty()) TRY(check_unnamed_workspace(facts, workspace));
  if (acting_as) TRY(check_place(*acting_as, wanted.role, facts, workspace));
  const PolicySources sources = TRY(read_policy_sources(facts, workspace));
  TRY(check_sources(sources));
  const policy::Approval approval =
      wanted.project_grants == ProjectGrants::none ? policy::Approval::none : sources.approval;
  std::vector<policy::Layer> layers = layers_of(sources, acting_as.get());
  std::vector<std::string> notes;
  std::optional<Applied> preset =
      TRY(find_preset(wanted.preset, wanted.command,
                      {workspace, repository_around(workspace, real_workspace(facts, facts.home)),
                       granted_trees(layers, wanted, facts)},
                      facts, notes));
  if (preset) {
    publish_login(*preset, layers, wanted, facts, notes);
    layers.push_back(preset->layer);
  }
  Resolved resolved = TRY(resolve_layers(std::move(layers), approval, wanted, facts, workspace));
  resolved.policy.workspace = named;
  if (resolved.policy.home.kind == HomeKind::kept && is_state_in_repository(facts, workspace))
    return invalid("kept home",
                   "coop's state directory \"" + printable(facts.state_directory) +
                       "\" lies in the repository: a home there may have come with it",
                   "set XDG_STATE_HOME to another directory, or say --home ephemeral");
  if (preset) resolved.policy.home_files = preset->preset.files;
  resolved.preset = std::move(preset);
  resolved.policy.notes.insert(resolved.policy.notes.end(), notes.begin(), notes.end());
  if (acting_as) {
    add_trust_defaults(resolved.effective, *acting_as);
    const policy::Setting* hide = policy::find(resolved.effective.settings, Key::hide_secrets);
    if (hide != nullptr && hide->value == policy::Scalar(true))
      resolved.policy.workspace_secrets = WorkspaceSecrets::hidden;
  }
  std::vector<PathRule> protections;
  for (const PolicySource& file : sources.files)
    if (file.text && file.scope != Scope::project) protect(protections, facts, file.path);
  if (acting_as) protect(protections, facts, acting_as->config->file);
  std::vector<PathRule>& rules = resolved.policy.rules;
  rules.insert(rules.end() - static_cast<std::ptrdiff_t>(wanted.unkeyed.rules.size()),
               protections.begin(), protections.end());
  TRY(check_real_sockets(resolved, wanted.flags, facts));
  resolved.files = files_of(sources, acting_as.get());
  resolved.project_file = sources.places.project;
  resolved.acting_as = std::move(acting_as);
  return resolved;
}

}  // namespace coop::request

namespace coop {

Result<Policy> load_policy(const PolicyRequest& request) {
  request::Wanted wanted{.workspace = request.workspace, .role = request.role};
  wanted.settings = TRY(request::read_json_settings(request.settings));
  request::Resolved resolved = TRY(request::resolve(wanted));
  return std::move(resolved.policy);
}

}  // namespace coop
