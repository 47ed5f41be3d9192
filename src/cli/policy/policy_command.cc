#include "cli/policy/policy_command.h"

#include <array>

#include "base/nearest.h"
#include "base/path.h"
#include "policy/settings.h"

namespace coop::cli {

namespace {

struct Subcommand {
  std::string_view name;
  Result<int> (*run)(Arguments arguments);
};

constexpr std::array kSubcommands{
    Subcommand{"show", policy_show},       Subcommand{"check", policy_check},
    Subcommand{"explain", policy_explain}, Subcommand{"diff", policy_diff},
    Subcommand{"export", policy_export},   Subcommand{"import", policy_import},
    Subcommand{"approve", policy_approve}, Subcommand{"schema", policy_schema},
};

constexpr const char* kHelp =
    R"(usage: coop policy show [--origin] [--json] [-w DIR]
       coop policy check [FILE] [--json] [-w DIR]
       coop policy explain [FLAGS OF RUN] PATH|HOST
       coop policy diff A B [--json] [-w DIR]
       coop policy export [--scope SCOPE] [-w DIR]
       coop policy import FILE [--scope SCOPE] [--dry-run] [-w DIR]
       coop policy approve [--yes] [--revoke] [-w DIR]
       coop policy schema

What sandboxes may do, as the files say it:
  organisation  /etc/coop/policy.toml            a ceiling nobody below can widen
  user          ~/.config/coop/policy.toml
  project       .coop/policy.toml in the workspace: may narrow; what it widens needs approval
The flags of `coop run` come last.

  show     the values in force; --origin: and where each was written
  check    every mistake in the files, with its place and the fix; exit code 1 when there is one
  explain  why a path or a host can or cannot be reached, and which grant would change it
  diff     what differs between two files, scopes, or "effective" and "built-in"
  export   a scope (default: effective) as one file
  import   put FILE in the place of a scope's file (default: user), keeping the old one
  approve  let the project's file, exactly as it is now, widen the sandbox
  schema   the JSON Schema of these files, for editors

examples:
  coop policy show --origin
  coop policy explain --view host ~/.ssh/id_ed25519
  coop policy diff user project
)";

}  // namespace

Result<int> command_policy(Arguments arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    print(kHelp);
    return arguments.empty() ? kOwnFailure : 0;
  }
  if (arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h")) {
    print(kHelp);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const Subcommand& subcommand : kSubcommands) {
    if (subcommand.name == arguments.front()) return subcommand.run(arguments.subspan(1));
    names.push_back(subcommand.name);
  }
  const std::string_view near = nearest(arguments.front(), names);
  return invalid(
      "policy", "unknown subcommand \"" + printable(arguments.front()) + "\"",
      near.empty() ? "see `coop policy --help`" : "did you mean " + std::string(near) + "?");
}

Result<PolicySources> sources_for(const std::string& workspace) {
  const HostFacts facts = TRY(surroundings());
  const Path real = real_workspace(facts, workspace);
  if (real.empty() && !workspace.empty())
    return invalid("--workspace", "\"" + printable(workspace) + "\" does not exist");
  return read_policy_sources(facts, real);
}

Result<policy::Scope> parse_scope(std::string_view text) {
  if (text == "organisation" || text == "organization" || text == "org")
    return policy::Scope::organisation;
  if (text == "user") return policy::Scope::user;
  if (text == "project") return policy::Scope::project;
  return invalid("--scope", "\"" + printable(text) + "\" is not a scope",
                 "organisation, user or project");
}

Result<int> policy_schema(Arguments arguments) {
  if (!arguments.empty())
    return invalid("policy schema", "it takes no arguments",
                   "coop policy schema > policy.schema.json");
  TRY(print_all(policy::policy_schema()));
  return 0;
}

}  // namespace coop::cli
