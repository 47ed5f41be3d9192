// The subcommands of `coop policy`, one per file.
#pragma once

#include "cli/command.h"
#include "cli/policy_sources.h"

namespace coop::cli {

Result<int> policy_show(Arguments arguments);
Result<int> policy_check(Arguments arguments);
Result<int> policy_explain(Arguments arguments);
Result<int> policy_diff(Arguments arguments);
Result<int> policy_export(Arguments arguments);
Result<int> policy_import(Arguments arguments);
Result<int> policy_approve(Arguments arguments);
Result<int> policy_schema(Arguments arguments);

// The files that hold for `workspace` (as written; empty: here).
Result<PolicySources> sources_for(const std::string& workspace);

// "organisation", "user" or "project", as --scope takes them; "org" too.
Result<policy::Scope> parse_scope(std::string_view text);

}  // namespace coop::cli
