// Resolves a sender to a user, and selects the settings of coop.toml for it.
#include <algorithm>

#include "base/nearest.h"
#include "base/text.h"
#include "policy/people/config.h"
#include "policy/people/config_reader.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::string_view kDefaultTerminal = "terminal:default";

const User* find_match(const Config& config, std::string_view match) {
  for (const User& user : config.users)
    if (contains(user.match, match)) return &user;
  return nullptr;
}

// In a group others read the answers, and the agent reads their text.
Principal under_ceiling(Principal principal, Conversation conversation) {
  principal.ceiling = ceiling_of(conversation);
  principal.trust = resolve_trust(principal.user_trust, principal.ceiling);
  if (principal.trust != principal.user_trust)
    principal.reason += "; in a group the ceiling is familiar";
  return principal;
}

template <typename Named>
Result<const Named*> find_named(const std::vector<Named>& all, std::string Named::* name,
                                std::string_view wanted, const std::string& operation,
                                std::string_view what) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found != all.end() && !wanted.empty()) return &*found;
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& one : all) names.emplace_back(one.*name);
  const std::string_view near = nearest(wanted, names);
  return invalid(operation, "no " + std::string(what) + " is called " + quote(wanted),
                 near.empty() ? "" : "did you mean " + quote(near) + "?");
}

}  // namespace

Principal principal_of_sender(const Config& config, std::string_view sender,
                              Conversation conversation, const Agent* agent) {
  Principal principal{.sender = std::string(sender)};
  const std::string everyone = everyone_of(sender);
  std::string_view matched = sender;
  if (!everyone.empty()) {
    principal.user = find_match(config, sender);
    if (principal.user == nullptr) {
      matched = everyone;
      principal.user = find_match(config, everyone);
    }
  }
  if (agent == nullptr && !config.agents.empty()) agent = &config.agents.front();
  if (principal.user != nullptr) {
    principal.user_trust = principal.user->trust;
    principal.reason =
        "matched " + quote(matched) + " (" + line_of(config.file, principal.user->at) + ")";
  } else if (sender == kDefaultTerminal && sandbox_enabled(config, agent)) {
    principal.user_trust = TrustLevel::owner;
    principal.reason =
        "no user matches, and the terminal is the owner's unless the sandbox is disabled";
  } else {
    principal.reason = "no user matches this sender";
  }
  return under_ceiling(std::move(principal), conversation);
}

Result<Principal> principal_of_user(const Config& config, std::string_view name,
                                    Conversation conversation) {
  const User* user = TRY(find_named(config.users, &User::name, name, config.file, "user"));
  Principal principal{.user = user, .user_trust = user->trust};
  principal.reason = "user " + quote(name) + " (" + line_of(config.file, user->at) + ")";
  return under_ceiling(std::move(principal), conversation);
}

Result<const CronJob*> find_cron(const Config& config, std::string_view name) {
  return find_named(config.cron, &CronJob::name, name, config.file, "cron job");
}

Result<const Agent*> find_agent(const Config& config, std::string_view id) {
  if (!id.empty()) return find_named(config.agents, &Agent::id, id, config.file, "agent");
  return config.agents.empty() ? nullptr : &config.agents.front();
}

std::vector<Layer> layers_of(const Config& config, const Agent* agent, const User* user,
                             const CronJob* cron) {
  std::vector<Layer> layers{{Scope::config, config.sandbox}};
  if (agent != nullptr) layers.push_back({Scope::config, agent->sandbox});
  if (user != nullptr) layers.push_back({Scope::override, user->sandbox});
  if (cron != nullptr) layers.push_back({Scope::override, cron->sandbox});
  return layers;
}

}  // namespace coop::policy
