// coop.toml, and the user, sender or cron job of it that a request is for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/request.h"
#include "host/facts.h"
#include "host/files/policy_files.h"
#include "policy/people/config.h"

namespace coop::request {

// `given`, or coop/coop.toml in the user's configuration directory; an error when there is none. A file of the current
// directory has to be named.
Result<Path> find_config(const HostFacts& facts, const std::string& given);

// Mistakes are in `findings`; only a file that cannot be read is an error. "-" is standard input.
Result<policy::Config> load_config(const HostFacts& facts, const Path& path,
                                   policy::Findings& findings);

// Everything of coop.toml that applies to one command. Not movable: `principal` points into
// `config`.
struct ActingAs {
  std::shared_ptr<const policy::Config> config{};
  const policy::Agent* agent = nullptr;
  const policy::CronJob* cron = nullptr;
  policy::Principal principal{};
  bool someone = false;  // a user, sender or job was named

  ActingAs() = default;
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  std::vector<policy::Layer> layers() const;
  Path workspace() const;  // empty: coop.toml names none
};

// The text of a configuration; "-" is standard input. A file that others can change would let them say who is trusted:
// it and its directory must belong to the user or root, as for a policy file.
Result<std::string> read_config_text(const Path& path,
                                     host::RequiredOwner owner = host::RequiredOwner::self);

// A configuration with a mistake in it is an error: who is trusted how far must not be half known. `loaded` is the
// configuration where it has been read already; null: the file is read now.
Result<std::unique_ptr<ActingAs>> act_as(const HostFacts& facts, const Role& role,
                                         std::shared_ptr<const policy::Config> loaded = nullptr);

}  // namespace coop::request
