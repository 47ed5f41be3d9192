#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/try_plan.h"
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
    if (host::find_program(program)) facts.programs.push_back(program);
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

// Whatever `coop run` and the tools would refuse for an agent, a user or a job. Those without settings of their own are
// like the agent.
class Plans {
 public:
  Plans(std::shared_ptr<const policy::Config> config, const Path& path, Findings& findings)
      : config_(std::move(config)), path_(path), findings_(findings) {}

  void check() {
    if (config_->agents.empty()) plan({}, "[sandbox]", {});
    for (const policy::Agent& agent : config_->agents)
      plan({.agent = agent.id}, agent.id.empty() ? "[agent]" : "agent " + in_quotes(agent.id),
           agent.at);
    for (const policy::User& user : config_->users)
      if (!user.sandbox.empty()) plan({.user = user.name}, "user " + in_quotes(user.name), user.at);
    for (const policy::CronJob& job : config_->cron) {
      const auto purpose =
          job.command.empty() ? request::Purpose::tools : request::Purpose::command;
      if (!job.sandbox.empty() || !job.command.empty())
        plan({.cron = job.name}, "cron job " + in_quotes(job.name), job.at, purpose);
    }
  }

 private:
  void plan(Role role, const std::string& whose, const Position& at,
            request::Purpose purpose = request::Purpose::tools) {
    role.config = path_;
    const Result<const policy::Agent*> agent = find_agent(*config_, role.agent);
    if (!agent || !policy::sandbox_enabled(*config_, *agent)) return;
    const bool named = *agent != nullptr && !(*agent)->workspace.empty();
    const request::Wanted wanted{
        .workspace =
            named ? (*agent)->workspace : Path(word_of(config_->sandbox, policy::Key::workspace)),
        .role = std::move(role),
        .config = config_};
    try_plan(wanted, purpose, {.scope = Scope::config, .file = config_->file, .at = at}, whose,
             findings_);
  }

  std::shared_ptr<const policy::Config> config_;
  const Path& path_;
  Findings& findings_;
};

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
  policy::Config read = TRY(request::load_config(facts, path, findings));
  const auto config = std::make_shared<const policy::Config>(std::move(read));
  const policy::CheckFacts machine = TRY(facts_for(*config));
  const Findings more = policy::check_config(*config, machine);
  findings.insert(findings.end(), more.begin(), more.end());
  TRY(check_projects(facts, *config, findings));
  if (!policy::has_errors(findings)) Plans(config, path, findings).check();
  TRY(print_all(flags.has("--json") ? as_json(*config, findings) : as_text(*config, findings)));
  return policy::has_errors(findings) ? 1 : 0;
}

}  // namespace coop::cli
