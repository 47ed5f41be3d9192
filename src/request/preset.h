// Which preset a command gets, and the layer of settings it adds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/facts.h"
#include "policy/merge/merge.h"
#include "policy/presets/preset.h"
#include "request/program.h"

namespace coop::request {

struct PresetChoice {
  enum class How : std::uint8_t {
    off,
    by_program,  // the one of the agent that the command is
    by_name,
  };
  How how = How::off;
  std::string name{};
};

// A preset in use.
struct Applied {
  policy::Preset preset{};
  policy::Layer layer{};  // its settings, and what makes its program visible
  // The command with the program by its absolute path, so that nothing else is found inside, and the added arguments.
  std::vector<std::string> command{};
};

// nullopt: none. A program that has the name of an agent, but lies where a sandbox could have written it, gets none, and
// `notes` says so: a repository's own "claude" must not get the agent's login.
Result<std::optional<Applied>> find_preset(const PresetChoice& choice,
                                           const std::vector<std::string>& command,
                                           const WritableTrees& writable, const HostFacts& facts,
                                           std::vector<std::string>& notes);

// Whether the agent has logged in there.
bool has_login(const policy::Preset& preset, const Path& home);
// As long as it has not: the ports of the host's localhost to which a browser is sent back. Another program may have one.
void publish_login_ports(Applied& applied, const Path& home, std::vector<std::string>& notes);

// "claude-project-1a2b…": of one agent in one workspace. A repository can choose the names of directories in it: so many digits
// that none of them has the home of another project.
std::string preset_home(const policy::Preset& preset, const Path& workspace);

}  // namespace coop::request
