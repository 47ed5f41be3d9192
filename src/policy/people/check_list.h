// The single checks of `coop config check`. Private to policy/people/check*.cc and
// config_checks.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/people/config_checks.h"

namespace coop::policy {

// A place in coop.toml that holds sandbox settings.
struct Section {
  const Settings* settings = nullptr;
  const Agent* agent = nullptr;  // of [agent.sandbox] and [[agents]]
  std::string whose{};           // "[sandbox]", `agent "main"`, `user "bob"`, `cron job "deploy"`
  bool is_override = false;
};
// [sandbox], then the agents'.
std::vector<Section> sandbox_sections(const Config& config);
// The non-empty ones of users and cron jobs.
std::vector<Section> override_sections(const Config& config);
std::vector<Section> all_sections(const Config& config);

// The word of a key: the section's own, or that of [sandbox].
std::string_view effective_word(const Config& config, const Section& section, Key key);

bool enabled_for(const Config& config, const Section& section);
bool enabled_anywhere(const Config& config);

// Where the file enables the sandbox; only the file name if it does not.
Origin origin_of_mode(const Config& config);

void check_available(const Config& config, const CheckFacts& facts, Findings& findings);
void check_user_namespaces(const Config& config, const CheckFacts& facts, Findings& findings);
void check_backend(const Config& config, const CheckFacts& facts, Findings& findings);
void check_image(const Config& config, const CheckFacts& facts, Findings& findings);
void check_network(const Config& config, const CheckFacts& facts, Findings& findings);
void check_paths(const Config& config, const CheckFacts& facts, Findings& findings);
void check_overrides(const Config& config, Findings& findings);
void check_owners(const Config& config, Findings& findings);

}  // namespace coop::policy
