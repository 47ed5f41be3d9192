#include "cli/policy/policy_command.h"

#include "base/path.h"
#include "policy/settings/settings.h"

namespace coop::cli {

Result<request::PolicySources> sources_for(const std::string& workspace) {
  const HostFacts facts = TRY(request::surroundings());
  const Path real = request::real_workspace(facts, workspace);
  if (real.empty() && !workspace.empty())
    return invalid("--workspace", "\"" + printable(workspace) + "\" does not exist");
  return request::read_policy_sources(facts, real);
}

Result<request::PolicySource> read_file(const std::string& name, Scope scope) {
  const HostFacts facts = TRY(request::surroundings());
  const bool piped = name == "-";
  request::PolicySource file{.path = name.starts_with('/') ? name
                                                           : join(facts.working_directory, name)};
  if (piped) file.text = TRY(request::read_config_text(name));
  else file.text = TRY(host::read_policy_file(file.path, host::RequiredOwner::anyone));
  if (!file.text) return system_error_of(ENOENT, "open", name);
  file.settings =
      policy::read_policy(*file.text,
                          {.file = piped ? "standard input" : name,
                           .scope = scope,
                           .surroundings = request::surroundings_of(facts, parent_of(file.path))},
                          file.findings);
  return file;
}

std::string change_text(const policy::Difference& difference) {
  const std::string name(policy::info(difference.key).name);
  std::string text;
  if (!difference.before.empty()) text += "- " + name + " = " + difference.before + "\n";
  if (!difference.after.empty()) text += "+ " + name + " = " + difference.after + "\n";
  return text;
}

Result<Scope> parse_scope(std::string_view text, std::string_view words) {
  if (text == "organisation" || text == "organization" || text == "org") return Scope::organisation;
  if (text == "user") return Scope::user;
  if (text == "project") return Scope::project;
  return invalid("--scope", "\"" + printable(text) + "\" is not a scope", words);
}

Result<int> policy_schema(const Parsed&) {
  TRY(print_all(policy::policy_schema()));
  return 0;
}

}  // namespace coop::cli
