#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"
#include "host/probe.h"
#include "policy/merge/apply.h"
#include "policy/policy.h"
#include "report/settings.h"
#include "report/text.h"

namespace coop::cli {

namespace {

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
      findings.push_back({.severity = Severity::warning,
                          .check = "sandbox_paths",
                          .file = item.origin.file,
                          .at = item.origin.at,
                          .message = "\"" + printable(item.path) + "\" does not exist",
                          .fix = key == policy::Key::sockets
                                     ? "correct it, or start the service first"
                                     : "correct it, or write \"" + printable(item.text) +
                                           "?\" if it may be missing"});
    }
}

// Grants that a file requests and does not get.
void add_refusals(const request::PolicySources& sources, Findings& findings) {
  for (const policy::Refusal& refusal : merge(sources.layers(), sources.approval).refused) {
    const bool approval = refusal.why == policy::Refusal::Why::not_approved;
    findings.push_back({.severity = Severity::error,
                        .check = "project_policy",
                        .file = refusal.origin.file,
                        .at = refusal.origin.at,
                        .message = std::string(policy::info(refusal.key).name) + " = " +
                                   refusal.asked + " is wider than " + refusal.limit + " (" +
                                   report::to_text(refusal.limit_origin) + ") and is not applied",
                        .fix = approval ? "read the file, and approve it with `coop policy approve`"
                                        : "only the organisation's policy can allow it"});
    if (refusal.origin.scope != Scope::project) findings.back().check = "organisation_policy";
  }
}

Finding network_finding(Severity severity, const Origin& origin, std::string message,
                        std::string fix) {
  return {.severity = severity,
          .check = "sandbox_network",
          .file = origin.file,
          .at = origin.at,
          .message = std::move(message),
          .fix = std::move(fix)};
}

// Host lists that have no effect in their network mode, or that it cannot enforce.
void check_hosts(const policy::Settings& settings, NetworkMode mode, Findings& findings) {
  const auto items = [&](policy::Key key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::vector<policy::Item>{} : found->second.items;
  };
  const bool open = mode == NetworkMode::full || mode == NetworkMode::veth;
  const std::string name = "network \"" + std::string(to_text(mode)) + "\"";
  for (const policy::Item& item : items(policy::Key::network_deny))
    if (open && item.destination && item.destination->kind != Destination::Kind::network)
      findings.push_back(network_finding(
          Severity::error, item.origin,
          "\"" + printable(item.text) + "\" is a name, and " + name + " cannot keep a name out",
          "deny its addresses, or use allowlist"));
  for (const policy::Item& item : items(policy::Key::network_udp))
    if (open)
      findings.push_back(
          network_finding(Severity::warning, item.origin,
                          "udp is for allowlist; with " + name + " UDP goes where TCP goes",
                          "leave it out, or list private networks in allow"));
  for (const policy::Item& item : items(policy::Key::network_allow))
    if (mode == NetworkMode::none)
      findings.push_back(network_finding(
          Severity::warning, item.origin,
          "\"" + printable(item.text) + "\" is not reached: the " + name + " reaches nothing",
          "leave the mode out, or use allowlist"));
}

// Valid settings that are not possible on this machine.
void check_possible(const policy::Effective& effective, const policy::Surroundings& surroundings,
                    const HostFacts& facts, Findings& findings) {
  const Result<Policy> policy = policy::policy_from(effective, surroundings);
  if (policy) {
    check_hosts(effective.settings, policy->network, findings);
    if (policy->network == NetworkMode::veth && facts.uid != 0)
      findings.push_back(
          network_finding(Severity::error, effective.settings.at(policy::Key::network).origin,
                          "network \"veth\" needs root", "use full or allowlist, which do not"));
    return;
  }
  findings.push_back({.severity = Severity::error,
                      .check = "sandbox_settings",
                      .file = {},
                      .at = {},
                      .message = to_text(policy.error()),
                      .fix = policy.error().hint});
}

Result<Findings> findings_of_file(const std::string& name) {
  const HostFacts facts = TRY(request::surroundings());
  const Path path = name.starts_with('/') ? name : join(facts.working_directory, name);
  const std::optional<std::string> text =
      TRY(host::read_policy_file(path, host::RequiredOwner::anyone));
  if (!text) return system_error_of(ENOENT, "open", name);
  Findings findings;
  const policy::Settings settings = policy::read_policy(
      *text, {.file = name, .surroundings = request::surroundings_of(facts, parent_of(path))},
      findings);
  check_paths(settings, findings);
  if (!policy::has_errors(findings))
    check_possible({.settings = settings}, request::surroundings_of(facts, parent_of(path)), facts,
                   findings);
  return findings;
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
  add_refusals(sources, findings);
  const HostFacts facts = TRY(request::surroundings());
  check_possible(merge(sources.layers(), sources.approval), request::surroundings_of(facts, {}),
                 facts, findings);
  return findings;
}

}  // namespace

Result<int> policy_check(const Parsed& flags) {
  std::string about = flags.arguments.empty() ? "" : printable(flags.arguments.front());
  const Findings findings =
      TRY(flags.arguments.empty() ? findings_of_scopes(flags.get("--workspace"), about)
                                  : findings_of_file(flags.arguments.front()));
  const bool bad = policy::has_errors(findings);
  std::string text;
  if (flags.has("--json")) {
    text = nlohmann::ordered_json{{"ok", !bad}, {"findings", report::findings_json(findings)}}.dump(
               2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
           "\n";
  } else {
    for (const Finding& finding : findings) text += to_text(finding);
    if (!bad) text += about.empty() ? "there are no policy files here\n" : "ok: " + about + "\n";
  }
  TRY(print_all(text));
  return bad ? 1 : 0;
}

}  // namespace coop::cli
