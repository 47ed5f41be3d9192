// coop.toml as a command line names it, and whom of it the command is for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/facts.h"
#include "policy/config.h"

namespace coop::cli {

// --config, --agent, and one of --as, --channel and --cron.
struct Role {
  std::string config{};
  std::string agent{};
  std::string user{};
  std::string sender{};
  std::string cron{};
  policy::Conversation conversation = policy::Conversation::direct;

  bool any() const {
    return !config.empty() || !agent.empty() || !user.empty() || !sender.empty() || !cron.empty() ||
           conversation == policy::Conversation::group;
  }
};

// `given`, or ./coop.toml, or coop/coop.toml where configurations lie; an error when there is none.
Result<Path> find_config(const HostFacts& facts, const std::string& given);

// Mistakes are in `findings`; only a file that cannot be read is an error. "-" is standard input.
Result<policy::Config> load_config(const HostFacts& facts, const Path& path,
                                   policy::Findings& findings);

// Everything of coop.toml that bears on one command. Does not move: `principal` points into `config`.
struct Casting {
  policy::Config config{};
  const policy::Agent* agent = nullptr;
  const policy::CronJob* cron = nullptr;
  policy::Principal principal{};
  bool someone = false;  // a user, sender or job was named

  Casting() = default;
  Casting(const Casting&) = delete;
  Casting& operator=(const Casting&) = delete;

  std::vector<policy::Layer> layers() const;
  Path workspace() const;  // empty: coop.toml names none
};

// A configuration with a mistake in it is an error: who is trusted how far must not be half known.
Result<std::unique_ptr<Casting>> cast(const HostFacts& facts, const Role& role);

}  // namespace coop::cli
