// coop.toml: agents, people and cron jobs of a gateway.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/merge/merge.h"
#include "policy/people/trust.h"
#include "policy/settings/settings.h"

namespace coop::policy {

struct Agent {
  std::string id{};
  std::string name{};
  Path workspace{};  // absolute; empty: where coop.toml is
  Settings sandbox{};
  Position at{};
  bool operator==(const Agent&) const = default;
};

struct User {
  std::string name{};
  TrustLevel trust = TrustLevel::public_;
  std::vector<std::string> match{};  // "terminal:default", "signal:+15555550100", "webhook:*"
  Settings sandbox{};
  Position at{};
  bool operator==(const User&) const = default;
};

struct CronJob {
  std::string name{};
  std::string expression{};
  std::string user{};  // empty: public
  std::string message{};
  std::string command{};
  Settings sandbox{};
  Position at{};
  bool operator==(const CronJob&) const = default;
};

struct Config {
  std::string file{};
  Settings sandbox{};
  std::vector<Agent> agents{};  // [agent], which has no id of its own, comes first
  std::vector<User> users{};
  std::vector<CronJob> cron{};
  bool operator==(const Config&) const = default;
};

// True unless the file has `enabled = false` or `mode = "disabled"`, for the agent or for all.
bool sandbox_enabled(const Config& config, const Agent* agent = nullptr);

// Reads a whole coop.toml. `surroundings.base` is the directory of the file. Errors become
// findings; the valid rest is kept, for further checks.
Config read_config(std::string_view text, const std::string& file, const Surroundings& surroundings,
                   Findings& findings);

// --- Principals -------------------------------------------------------------------------------

struct Principal {
  std::string sender{};        // "signal:+15555550100"; empty for a cron job or --as
  const User* user = nullptr;  // null: no user matched
  TrustLevel user_trust = TrustLevel::public_;  // before the ceiling
  TrustLevel ceiling = TrustLevel::owner;
  TrustLevel trust = TrustLevel::public_;
  std::string
      reason{};  // `matched "signal:+15555550100" (coop.toml:9)`, "no user matches this sender", …
};

// The user with exactly this match, or else with "channel:*". Without one: public; but
// terminal:default is the owner unless the sandbox is disabled for the agent (none given: the first).
Principal principal_of_sender(const Config& config, std::string_view sender,
                              Conversation conversation, const Agent* agent = nullptr);
// An unknown name is an error that names the nearest.
Result<Principal> principal_of_user(const Config& config, std::string_view name,
                                    Conversation conversation);
Result<const CronJob*> find_cron(const Config& config, std::string_view name);
// The only agent, or the one with this id (empty: the first or none).
Result<const Agent*> find_agent(const Config& config, std::string_view id);

// Whether an owner's tools may run on the host. Where the organisation's file sets anything, only if it says so itself:
// its ceiling holds in sandboxes.
bool owner_may_bypass(const Effective& effective);

// Defaults of a gateway's sandboxes: they serve other people than the machine's owner, so memory
// (2g) and processes (512) are limited. The lowest layer, so that a project's file cannot exceed them unapproved.
Layer gateway_defaults();

// The layers coop.toml adds, in order: [sandbox], the agent's, the user's, the cron job's
// overrides.
std::vector<Layer> layers_of(const Config& config, const Agent* agent, const User* user,
                             const CronJob* cron);

}  // namespace coop::policy
