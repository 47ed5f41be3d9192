#include "policy/people/config_checks.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "policy/people/check_list.h"
#include "policy/quoted.h"

namespace coop::policy {

std::span<const std::string_view> check_names() {
  static constexpr std::array<std::string_view, 29> kNames{"sandbox_available",
                                                           "sandbox_backend",
                                                           "sandbox_image",
                                                           "sandbox_network",
                                                           "sandbox_memory",
                                                           "sandbox_pids",
                                                           "sandbox_cpus",
                                                           "sandbox_limits",
                                                           "sandbox_environment",
                                                           "sandbox_settings",
                                                           "sandbox_paths",
                                                           "sandbox_overrides",
                                                           "sandbox_multiple_owners",
                                                           "sandbox_no_owner",
                                                           "sandbox_user_namespaces",
                                                           "unknown_key",
                                                           "syntax",
                                                           "agent",
                                                           "user",
                                                           "trust",
                                                           "match",
                                                           "overlapping_match",
                                                           "duplicate_user",
                                                           "duplicate_cron",
                                                           "duplicate_agent",
                                                           "cron",
                                                           "cron_expression",
                                                           "project_policy",
                                                           "plan"};
  return kNames;
}

Findings check_config(const Config& config, const CheckFacts& facts) {
  Findings findings;
  check_available(config, facts, findings);
  check_backend(config, facts, findings);
  check_image(config, facts, findings);
  check_network(config, facts, findings);
  check_paths(config, facts, findings);
  check_overrides(config, findings);
  check_owners(config, findings);
  check_user_namespaces(config, facts, findings);
  return findings;
}

// --- Shared by the checks -----------------------------------------------------------------------

std::vector<Section> sandbox_sections(const Config& config) {
  std::vector<Section> sections{{.settings = &config.sandbox, .whose = "[sandbox]"}};
  for (const Agent& agent : config.agents)
    sections.push_back({.settings = &agent.sandbox,
                        .agent = &agent,
                        .whose = agent.id.empty() ? "[agent]" : "agent " + quote(agent.id)});
  return sections;
}

std::vector<Section> override_sections(const Config& config) {
  std::vector<Section> sections;
  for (const User& user : config.users)
    if (!user.sandbox.empty())
      sections.push_back(
          {.settings = &user.sandbox, .whose = "user " + quote(user.name), .is_override = true});
  for (const CronJob& job : config.cron)
    if (!job.sandbox.empty())
      sections.push_back(
          {.settings = &job.sandbox, .whose = "cron job " + quote(job.name), .is_override = true});
  return sections;
}

std::vector<Section> all_sections(const Config& config) {
  std::vector<Section> sections = sandbox_sections(config);
  std::ranges::move(override_sections(config), std::back_inserter(sections));
  return sections;
}

std::string_view effective_word(const Config& config, const Section& section, Key key) {
  const std::string_view own = word_of(*section.settings, key);
  return own.empty() ? word_of(config.sandbox, key) : own;
}

bool enabled_anywhere(const Config& config) {
  return sandbox_enabled(config) || std::ranges::any_of(config.agents, [&](const Agent& agent) {
           return sandbox_enabled(config, &agent);
         });
}

bool enabled_for(const Config& config, const Section& section) {
  return section.agent == nullptr ? enabled_anywhere(config)
                                  : sandbox_enabled(config, section.agent);
}

Origin origin_of_mode(const Config& config) {
  for (const Section& section : sandbox_sections(config)) {
    const auto mode = section.settings->find(Key::mode);
    if (mode != section.settings->end() && mode->second.value == Scalar("enabled"))
      return mode->second.origin;
  }
  return {.scope = Scope::config, .file = config.file};
}

}  // namespace coop::policy
