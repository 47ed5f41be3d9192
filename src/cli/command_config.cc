#include <array>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/config_source.h"
#include "cli/plain_flags.h"
#include "cli/policy/settings_text.h"
#include "cli/policy_sources.h"
#include "coop/sandbox.h"
#include "host/probe.h"
#include "host/tools.h"
#include "policy/config_checks.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::Finding;
using policy::Findings;

constexpr std::array kFlags{PlainFlag{"--json"}, PlainFlag{"--config", "FILE"}};

constexpr const char* kHelp =
    R"(usage: coop config check [FILE] [--json]

Checks a coop.toml (default: ./coop.toml, then coop/coop.toml where configurations lie): its syntax,
every value, who is trusted how far, and whether this machine can do what it asks for. Each finding has
its place and the fix. Exit code 1 when there is an error, 0 with warnings. "-" is standard input.

examples:
  coop config check
  coop config check /srv/gateway/coop.toml --json
)";

// What the checks need to know about this machine, found out by trying.
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

// The project files of the agents' workspaces: who may widen is part of who is trusted.
Result<void> check_projects(const HostFacts& facts, const policy::Config& config,
                            Findings& findings) {
  std::vector<Path> workspaces;
  for (const policy::Agent& agent : config.agents)
    if (!agent.workspace.empty()) workspaces.push_back(agent.workspace);
  for (const Path& workspace : workspaces) {
    const PolicySources sources = TRY(read_policy_sources(facts, real_workspace(facts, workspace)));
    for (const PolicySource& file : sources.files)
      findings.insert(findings.end(), file.findings.begin(), file.findings.end());
    for (const policy::Refusal& refusal : merge(sources.layers(), sources.approval).refused)
      findings.push_back({.severity = policy::Severity::error,
                          .check = "project_policy",
                          .file = refusal.origin.file,
                          .at = refusal.origin.at,
                          .message = to_text(refusal),
                          .fix = "read it, then `coop policy approve -w " + printable(workspace) +
                                 "`, or take it out"});
  }
  return {};
}

std::string as_json(const policy::Config& config, const Findings& findings) {
  Json checks = Json::array();
  for (const std::string_view name : policy::check_names()) checks.push_back(name);
  const Json json{{"file", config.file},
                  {"ok", !policy::has_errors(findings)},
                  {"checks", checks},
                  {"findings", findings_json(findings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const policy::Config& config, const Findings& findings) {
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    text += to_text(finding);
    errors += finding.severity == policy::Severity::error ? 1 : 0;
    warnings += finding.severity == policy::Severity::warning ? 1 : 0;
  }
  return text + printable(config.file) + ": " +
         (errors == 0 && warnings == 0
              ? std::string("ok")
              : std::to_string(errors) + (errors == 1 ? " error, " : " errors, ") +
                    std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings")) +
         "\n";
}

Result<int> check(Arguments arguments) {
  const PlainFlags flags = TRY(parse_plain("config check", arguments, kFlags, 1));
  if (flags.has("--help")) {
    print(kHelp);
    return 0;
  }
  const HostFacts facts = TRY(surroundings());
  const Path path =
      TRY(find_config(facts, flags.words.empty() ? flags.get("--config") : flags.words.front()));
  Findings findings;
  const policy::Config config = TRY(load_config(facts, path, findings));
  const policy::CheckFacts machine = TRY(facts_for(config));
  const Findings more = policy::check_config(config, machine);
  findings.insert(findings.end(), more.begin(), more.end());
  TRY(check_projects(facts, config, findings));
  TRY(print_all(flags.has("--json") ? as_json(config, findings) : as_text(config, findings)));
  return policy::has_errors(findings) ? 1 : 0;
}

}  // namespace

Result<int> command_config(Arguments arguments) {
  const std::string word = arguments.empty() ? "--help" : arguments.front();
  if (word == "--help" || word == "-h") {
    print(kHelp);
    return arguments.empty() ? kOwnFailure : 0;
  }
  if (word == "check") return check(arguments.subspan(1));
  return invalid("config", "unknown subcommand \"" + printable(word) + "\"",
                 "coop config check [FILE] [--json]");
}

}  // namespace coop::cli
