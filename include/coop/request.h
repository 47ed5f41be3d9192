// Makes the policy of one sandbox from policy files and settings, from C++.
//
//   coop::Result<coop::Policy> policy =
//       coop::load_policy({.workspace = "/srv/project", .settings = R"({"network": "full"})"});
#pragma once

#include <cstdint>
#include <string>

#include "coop/policy.h"
#include "coop/result.h"

namespace coop {

enum class Conversation : std::uint8_t { direct, group };

// The user of a coop.toml that a request is for: at most one of user, sender and cron job. All
// empty: no coop.toml is read.
struct Role {
  std::string config{};  // empty: the one beside the user's policy file
  std::string agent{};
  std::string user{};
  std::string sender{};  // "signal:+15555550100"
  std::string cron{};
  Conversation conversation = Conversation::direct;

  bool any() const {
    return !config.empty() || !agent.empty() || !user.empty() || !sender.empty() || !cron.empty() ||
           conversation == Conversation::group;
  }
};

struct PolicyRequest {
  Path workspace{};  // empty: coop.toml's, else the settings', else the current directory
  std::string
      settings{};  // a JSON object with the keys of a policy file's [sandbox] table, and "workspace"
  Role role{};
};

// Merges the policy files of the organisation, the user and the project, coop.toml if a role is given, and the
// settings, as `coop run` does. Settings that exceed the organisation's policy are dropped, with a note in
// Policy::notes. A role that may not run commands is an error.
//
// exec(), spawn() and Pool check every policy against the organisation's again: one that was changed after
// load_policy(), or made without it, cannot exceed it either.
Result<Policy> load_policy(const PolicyRequest& request = {});

}  // namespace coop
