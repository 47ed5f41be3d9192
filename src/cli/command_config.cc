#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/usage/usage.h"
#include "coop/sandbox.h"
#include "host/machine/tools.h"
#include "host/probe.h"
#include "policy/people/config_checks.h"
#include "report/settings.h"
#include "request/resolve.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::Finding;
using policy::Findings;

// Facts about this machine for the checks, by probing.
Result<policy::CheckFacts> facts_for(const policy::Config& config) {
  policy::CheckFacts facts;
  facts.host = TRY(probe());
  host::inspect(facts.host, policy::paths_to_check(config));
  host::inspect_cgroups(facts.host);
  facts.can_sandbox = host::can_sandbox(facts.host);
  facts.isolation = host::isolation_name(facts.host);
  for (const std::string& program : policy::programs_to_check(config))
    if (host::find_program(facts.host, program)) facts.programs.push_back(program);
  return facts;
}

// The project files of the agents' workspaces: their approvals are part of the configuration.
Result<void> check_projects(const HostFacts& facts, const policy::Config& config,
                            Findings& findings) {
  for (const policy::Agent& agent : config.agents) {
    if (agent.workspace.empty()) continue;
    const request::PolicySources sources =
        TRY(request::read_policy_sources(facts, request::real_workspace(facts, agent.workspace)));
    for (const request::PolicySource& file : sources.files)
      findings.insert(findings.end(), file.findings.begin(), file.findings.end());
    for (const policy::Refusal& refusal : request::effective_of(sources).refused)
      add_finding(findings, policy::Severity::error, "project_policy", refusal.origin,
                  to_text(refusal),
                  "read it, then `coop policy approve -w " + printable(agent.workspace) +
                      "`, or take it out");
  }
  return {};
}

std::string as_json(const policy::Config& config, const Findings& findings) {
  const Json json{{"file", config.file},
                  {"ok", !policy::has_errors(findings)},
                  {"checks", policy::check_names()},
                  {"findings", report::findings_json(findings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const policy::Config& config, const Findings& findings) {
  const auto count = [&](policy::Severity severity) {
    return std::ranges::count(findings, severity, &Finding::severity);
  };
  const auto errors = count(policy::Severity::error);
  const auto warnings = count(policy::Severity::warning);
  std::string text;
  for (const Finding& finding : findings) text += to_text(finding);
  return text + printable(config.file) + ": " +
         (errors == 0 && warnings == 0
              ? std::string("ok")
              : std::to_string(errors) + (errors == 1 ? " error, " : " errors, ") +
                    std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings")) +
         "\n";
}

}  // namespace

Result<int> config_check(const Parsed& flags) {
  const HostFacts facts = TRY(request::surroundings());
  const Path path = TRY(request::find_config(
      facts, flags.arguments.empty() ? flags.get("--config") : flags.arguments.front()));
  Findings findings;
  const policy::Config config = TRY(request::load_config(facts, path, findings));
  const policy::CheckFacts machine = TRY(facts_for(config));
  const Findings more = policy::check_config(config, machine);
  findings.insert(findings.end(), more.begin(), more.end());
  TRY(check_projects(facts, config, findings));
  TRY(print_all(flags.has("--json") ? as_json(config, findings) : as_text(config, findings)));
  return policy::has_errors(findings) ? 1 : 0;
}

}  // namespace coop::cli
