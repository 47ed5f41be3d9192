#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/policy/policy_command.h"
#include "cli/try_plan.h"
#include "cli/usage/usage.h"
#include "host/probe.h"
#include "policy/merge/apply.h"
#include "policy/merge/compare.h"
#include "policy/policy.h"
#include "report/settings.h"
#include "report/text.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::Finding;
using policy::Findings;
using policy::Severity;

// A missing path: a typing mistake, or a path created later.
void check_paths(const policy::Settings& settings, Findings& findings) {
  HostFacts facts;
  for (const auto& [key, setting] : settings)
    for (const policy::Item& item : setting.items) {
      if (item.path.empty() || item.pattern || item.if_missing == Missing::skip) continue;
      host::inspect(facts, std::array{item.path});
      if (facts.has(item.path)) continue;
      // Nothing is shown of what does not exist: `coop run` fails.
      const bool needed = policy::is_path_list(key) && !policy::is_restricting(key);
      add_finding(findings, needed ? Severity::error : Severity::warning, "sandbox_paths",
                  item.origin, "\"" + printable(item.path) + "\" does not exist",
                  key == policy::Key::sockets ? "correct it, or start the service first"
                                              : "correct it, or write \"" + printable(item.text) +
                                                    "?\" if it may be missing");
    }
}

// Grants that a file requests and does not get.
void add_refusals(const policy::Effective& effective, Findings& findings) {
  for (const policy::Refusal& refusal : effective.refused) {
    const bool approval = refusal.why == policy::Refusal::Why::not_approved;
    add_finding(findings, Severity::error,
                refusal.origin.scope == Scope::project ? "project_policy" : "organisation_policy",
                refusal.origin,
                std::string(policy::info(refusal.key).name) + " = " + refusal.asked +
                    " is wider than " + refusal.limit + " (" +
                    report::to_text(refusal.limit_origin) + ") and is not applied",
                approval ? "read the file, and approve it with `coop policy approve`"
                         : "only the organisation's policy can allow it");
  }
}

// Host lists that have no effect in their network mode, or that it cannot enforce.
void check_hosts(const policy::Settings& settings, NetworkMode mode, Findings& findings) {
  const bool open = mode == NetworkMode::full || mode == NetworkMode::veth;
  const std::string name = "network \"" + std::string(to_text(mode)) + "\"";
  const policy::Key denied = policy::Key::network_deny;
  for (const policy::Written& written : policy::as_written(denied, items_of(settings, denied))) {
    const policy::Item& item = written.items.front();
    if (open && item.destination && item.destination->kind != Destination::Kind::network)
      add_finding(findings, Severity::error, "sandbox_network", item.origin,
                  printable(written.text) + " is a name, and " + name + " cannot keep a name out",
                  "deny its addresses, or use allowlist");
  }
  for (const policy::Item& item : items_of(settings, policy::Key::network_udp))
    if (open)
      add_finding(findings, Severity::warning, "sandbox_network", item.origin,
                  "udp is for allowlist; with " + name + " UDP goes where TCP goes",
                  "leave it out, or list private networks in allow");
  const policy::Key allowed = policy::Key::network_allow;
  for (const policy::Written& written : policy::as_written(allowed, items_of(settings, allowed)))
    if (mode == NetworkMode::none)
      add_finding(findings, Severity::warning, "sandbox_network", written.items.front().origin,
                  printable(written.text) + " is not reached: the " + name + " reaches nothing",
                  "leave the mode out, or use allowlist");
}

// Valid settings that are not possible on this machine.
void check_possible(const policy::Effective& effective, const policy::Surroundings& surroundings,
                    const HostFacts& facts, Findings& findings) {
  Result<Policy> policy = policy::policy_from(effective, surroundings);
  if (policy) {
    check_hosts(effective.settings, policy->network, findings);
    if (policy->network == NetworkMode::veth && facts.uid != 0)
      add_finding(findings, Severity::error, "sandbox_network",
                  effective.settings.at(policy::Key::network).origin, "network \"veth\" needs root",
                  "use full or allowlist, which do not");
    return;
  }
  add_finding(findings, Severity::error, "sandbox_settings", {}, to_text(policy.error()),
              policy.error().hint);
}

// One file alone, in the workspace.
Result<Findings> findings_of_file(const std::string& name, const std::string& workspace,
                                  Scope scope) {
  const HostFacts facts = TRY(request::surroundings());
  request::PolicySource file = TRY(read_file(name, scope));
  check_paths(file.settings, file.findings);
  if (policy::has_errors(file.findings)) return std::move(file.findings);
  policy::Effective effective{.settings = file.settings};
  if (scope == Scope::organisation) effective.ceiling = file.settings;
  const policy::Surroundings surroundings = request::surroundings_of(facts, parent_of(file.path));
  check_possible(effective, surroundings, facts, file.findings);
  if (policy::has_errors(file.findings)) return std::move(file.findings);
  Policy policy = TRY(policy::policy_from(effective, surroundings));
  policy.workspace = workspace;
  try_plan(std::move(policy), {}, {}, file.findings);
  return std::move(file.findings);
}

Result<Findings> findings_of_scopes(const std::string& workspace, std::string& about) {
  const request::PolicySources sources = TRY(sources_for(workspace));
  Findings findings;
  for (const request::PolicySource& file : sources.files) {
    if (!file.text) continue;
    about += (about.empty() ? "" : ", ") + printable(file.path);
    findings.insert(findings.end(), file.findings.begin(), file.findings.end());
    check_paths(file.settings, findings);
  }
  if (policy::has_errors(findings)) return findings;
  const policy::Effective effective = request::effective_of(sources);
  add_refusals(effective, findings);
  const HostFacts facts = TRY(request::surroundings());
  check_possible(effective, request::surroundings_of(facts, {}), facts, findings);
  if (!about.empty() && !policy::has_errors(findings))
    try_plan(request::Wanted{.workspace = workspace}, request::Purpose::command, {}, {}, findings);
  return findings;
}

}  // namespace

Result<int> policy_check(const Parsed& flags) {
  std::string about = flags.arguments.empty() ? "" : printable(flags.arguments.front());
  const std::string workspace = flags.get("--workspace");
  const Scope scope = TRY(parse_scope(flags.get("--scope", "user")));
  const Findings findings =
      TRY(flags.arguments.empty() ? findings_of_scopes(workspace, about)
                                  : findings_of_file(flags.arguments.front(), workspace, scope));
  const bool bad = policy::has_errors(findings);
  std::string text;
  if (flags.has("--json")) {
    const Json json{{"ok", !bad}, {"findings", report::findings_json(findings)}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } else {
    for (const Finding& finding : findings) text += to_text(finding);
    if (!bad) text += about.empty() ? "there are no policy files here\n" : "ok: " + about + "\n";
  }
  TRY(print_all(text));
  return bad ? 1 : 0;
}

}  // namespace coop::cli
