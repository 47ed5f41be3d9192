// Policies in and out: `policy export` and `policy import`.
#include "base/path.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

std::string all_changes(const policy::Settings& before, const policy::Settings& after) {
  std::string text;
  for (const policy::Difference& difference : differences(before, after))
    text += change_text(difference);
  return text.empty() ? "nothing changes\n" : text;
}

}  // namespace

Result<int> policy_export(const Parsed& flags) {
  const std::string scope = flags.get("--scope", "effective");
  const request::PolicySources sources = TRY(sources_for(flags.get("--workspace")));
  policy::Settings settings;
  if (scope == "effective") {
    TRY(request::check_sources(sources));
    settings = request::effective_of(sources).settings;
  } else {
    const Scope wanted = TRY(parse_scope(scope, "organisation, user, project or effective"));
    const request::PolicySource& file = sources.of(wanted);
    if (!file.text) return system_error_of(ENOENT, "open", file.path);
    if (policy::has_errors(file.findings)) return std::unexpected(to_error(file.findings));
    settings = file.settings;
  }
  TRY(print_all(policy::to_toml(settings)));
  return 0;
}

Result<int> policy_import(const Parsed& flags) {
  if (flags.arguments.empty())
    return invalid("policy import", "no file is named", "coop policy import FILE [--scope user]");
  const Scope scope = TRY(parse_scope(flags.get("--scope", "user")));
  const request::PolicySources sources = TRY(sources_for(flags.get("--workspace")));
  const request::PolicySource& old = sources.of(scope);
  if (old.path.empty())
    return invalid("policy import", "there is no workspace for a project's policy");
  const std::string text =
      TRY(request::read_config_text(flags.arguments.front(), host::RequiredOwner::anyone));
  const HostFacts facts = TRY(request::surroundings());
  policy::Findings findings;
  const Path base = scope == Scope::project ? parent_of(parent_of(old.path)) : Path{};
  const policy::Settings settings =
      policy::read_policy(text,
                          {.file = flags.arguments.front(),
                           .scope = scope,
                           .surroundings = request::surroundings_of(facts, base)},
                          findings);
  std::string report;
  for (const policy::Finding& finding : findings) report += to_text(finding);
  if (policy::has_errors(findings)) {
    TRY(print_all(report));
    return 1;
  }
  TRY(print_all(report + all_changes(old.settings, settings)));
  if (flags.has("--dry-run")) return 0;
  TRY(with_context("importing the policy", host::replace_policy_file(old.path, text)));
  say("wrote " + printable(old.path) +
      (old.text ? "; what was there is now " + printable(old.path) + ".previous" : ""));
  return 0;
}

}  // namespace coop::cli
