// Every check of `coop config check`, by name.
#pragma once

#include <vector>

#include "coop/host_facts.h"
#include "policy/config.h"
#include "policy/findings.h"

namespace coop::policy {

// What was found out about the machine before: a literal in tests.
struct CheckFacts {
  HostFacts host{};  // fully probed; `paths` has facts about paths_to_check()
  bool can_sandbox = false;
  std::string isolation{};              // "linux (namespaces + landlock + seccomp)"
  std::vector<std::string> programs{};  // of those in programs_to_check(), the installed ones
  std::vector<std::string> images{};    // known to be there locally
};

std::vector<Path> paths_to_check(const Config& config);
std::vector<std::string> programs_to_check(const Config& config);

// The names of all checks, in the order `--json` lists them.
std::vector<std::string_view> check_names();

// Findings about the configuration as a whole, to be added to those of reading it.
Findings check_config(const Config& config, const CheckFacts& facts);

}  // namespace coop::policy
