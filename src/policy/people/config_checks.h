// Every check of `coop config check`, by name.
#pragma once

#include <span>
#include <vector>

#include "coop/host_facts.h"
#include "policy/people/config.h"
#include "policy/settings/findings.h"

namespace coop::policy {

// Facts about the machine, gathered before: a literal in tests.
struct CheckFacts {
  HostFacts host{};  // fully probed; `paths` has facts about paths_to_check()
  bool can_sandbox = false;
  std::string isolation{};              // "linux (namespaces + landlock + seccomp)"
  std::vector<std::string> programs{};  // the installed ones of programs_to_check()
  std::vector<std::string> images{};    // known to exist locally
};

std::vector<Path> paths_to_check(const Config& config);
std::vector<std::string> programs_to_check(const Config& config);

// The names of all checks, in the order `--json` lists them.
std::span<const std::string_view> check_names();

// Findings about the configuration as a whole, in addition to those of reading it.
Findings check_config(const Config& config, const CheckFacts& facts);

}  // namespace coop::policy
