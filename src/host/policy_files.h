// Where policies lie on this machine, and which of them may be believed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

struct PolicyPlaces {
  Path organisation{};  // /etc/coop/policy.toml
  Path user{};          // $XDG_CONFIG_HOME/coop/policy.toml, or below ~/.config
  Path project{};       // .coop/policy.toml in the workspace; empty without one
  Path approvals{};     // a directory of coop's own state, which no sandbox sees
};

// `facts` needs no more than read_surroundings() fills.
PolicyPlaces policy_places(const HostFacts& facts, const Path& workspace);

// Who may be able to write the file. Whoever else can would be the one whose policy it is.
enum class Keeper : std::uint8_t { root, self, anyone };

// The text of a policy file; nullopt when there is none. A file that cannot be read, is no plain file, is
// larger than 1 MiB, or can be changed by others than its keeper is an error: going on without it
// would be a wider sandbox than somebody wrote down.
Result<std::optional<std::string>> read_policy_file(const Path& path, Keeper keeper);

// The project's file: symlinks on the way from the workspace are refused.
Result<std::optional<std::string>> read_project_policy(const Path& workspace);

// Approval is of exactly this text in exactly this place; a new one takes the old one's place.
Result<bool> is_approved(const PolicyPlaces& places, std::string_view text);
Result<void> approve(const PolicyPlaces& places, std::string_view text, std::string_view when);
// Whatever text was approved. False when none was.
Result<bool> revoke(const PolicyPlaces& places);

// Puts `text` in the place of `path`, all or nothing; missing directories are made. What was there is
// kept beside it as `path`.previous.
Result<void> replace_policy_file(const Path& path, std::string_view text);

}  // namespace coop::host
