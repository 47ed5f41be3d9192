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

Result<Scope> parse_scope(std::string_view text) {
  if (text == "organisation" || text == "organization" || text == "org") return Scope::organisation;
  if (text == "user") return Scope::user;
  if (text == "project") return Scope::project;
  return invalid("--scope", "\"" + printable(text) + "\" is not a scope",
                 "organisation, user or project");
}

Result<int> policy_schema(const Parsed&) {
  TRY(print_all(policy::policy_schema()));
  return 0;
}

}  // namespace coop::cli
