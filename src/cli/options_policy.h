// From a command line to the policy it stands for: policy files, coop.toml and flags together.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/command.h"
#include "cli/config_source.h"
#include "cli/flags.h"
#include "cli/policy_sources.h"
#include "policy/merge.h"

namespace coop::cli {

struct Request {
  Options options{};
  Policy policy{};
  policy::Effective effective{};
  std::unique_ptr<Casting> casting{};  // null: no coop.toml is involved
};

// Tools check the trust of each call by themselves.
enum class Purpose : std::uint8_t { command, tools };

// Flags are read twice: once to learn where to look for files, and then on top of what those say. Going
// beyond the organisation's policy is an error; files that do are cut back, with a note.
// With --help in it nothing but the options is filled.
// `added` is what a program that embeds us says besides, below the command line.
Result<Request> read_request(Arguments arguments, Purpose purpose = Purpose::command,
                             const policy::Settings& added = {});

}  // namespace coop::cli
