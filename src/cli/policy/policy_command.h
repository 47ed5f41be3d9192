// The subcommands of `coop policy`, one per file.
#pragma once

#include "cli/command.h"
#include "request/resolve.h"

namespace coop::cli {

Result<int> policy_show(const Parsed& parsed);
Result<int> policy_check(const Parsed& parsed);
Result<int> policy_explain(const Parsed& parsed);
Result<int> policy_diff(const Parsed& parsed);
Result<int> policy_export(const Parsed& parsed);
Result<int> policy_import(const Parsed& parsed);
Result<int> policy_approve(const Parsed& parsed);
Result<int> policy_schema(const Parsed& parsed);
Result<int> policy_hosts(const Parsed& parsed);

// The files that hold for `workspace` (as written; empty: here).
Result<request::PolicySources> sources_for(const std::string& workspace);

// A policy file that the caller names, read like one of this scope. Mistakes are in its findings.
Result<request::PolicySource> read_file(const std::string& name, Scope scope = Scope::user);

// "- memory = …" and "+ memory = …".
std::string change_text(const policy::Difference& difference);

// "organisation", "user" or "project", as --scope takes them; "org" too.
// `words`: the hint for a text that is not a scope.
Result<Scope> parse_scope(std::string_view text,
                          std::string_view words = "organisation, user or project");

}  // namespace coop::cli
