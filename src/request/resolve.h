// The only way to a policy: flags, JSON and files are layers of settings, which are merged into a
// Policy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/request.h"
#include "host/facts.h"
#include "policy/merge/merge.h"
#include "request/acting_as.h"
#include "request/preset.h"
#include "request/sources.h"

namespace coop::request {

// Whether an approved project file may widen. Not while a sandboxed command could have written it.
enum class ProjectGrants : std::uint8_t { as_approved, none };

struct Wanted {
  Path
      workspace{};  // as written; empty: coop.toml's, else the settings', else the current directory
  Role role{};
  std::shared_ptr<const policy::Config> config{};  // of the role, where it has been read already
  policy::Settings settings{};                     // of a program
  policy::Settings flags{};  // of a command line, but for its rules about paths
  // What policy files have no key for: access to the workspace, and the directory to start in. Its rules are those of
  // the command line, of which a later one wins over an earlier one.
  Policy unkeyed{};
  ProjectGrants project_grants = ProjectGrants::as_approved;
  PresetChoice preset{};
  std::vector<std::string> command{};  // that the preset is for
};

struct Resolved {
  Policy policy{};
  policy::Effective effective{};
  std::unique_ptr<ActingAs> acting_as{};  // null: no coop.toml is involved
  std::optional<Applied> preset{};
  std::vector<Path> files{};  // all that was looked at, existing or not
  Path project_file{};        // the one of these in the workspace
};

// The settings in force: of the files, and of coop.toml where `acting_as` is someone in it. Only this room merges.
policy::Effective effective_of(const PolicySources& sources, const ActingAs* acting_as = nullptr);

// A tool checks the trust of each call itself; a command needs the trust to run commands.
enum class Purpose : std::uint8_t { command, tools };

// What a file or a program requests beyond the organisation's policy is dropped, with a note; a
// flag that does so is an error.
Result<Resolved> resolve(const Wanted& wanted, Purpose purpose = Purpose::command);

// The same without reading files: `below` are the layers of files.
Result<Resolved> resolve_layers(std::vector<policy::Layer> below, policy::Approval approval,
                                const Wanted& wanted, const HostFacts& facts,
                                const Path& workspace);

// A policy as JSON text: see coop/request.h. Empty text is an empty layer.
Result<policy::Settings> read_json_settings(std::string_view text);

}  // namespace coop::request
