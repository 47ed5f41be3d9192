// Paths of policy files on this machine, and checks of their ownership.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/facts.h"

namespace coop::host {

// The user's: $XDG_CONFIG_HOME/coop, or ~/.config/coop.
Path configuration_directory(const HostFacts& facts);

struct PolicyPlaces {
  Path organisation{};  // /etc/coop/policy.toml
  Path user{};          // policy.toml in the configuration directory
  Path project{};       // .coop/policy.toml in the workspace; empty without one
  Path approvals{};     // in coop's state directory, which no sandbox sees
};

// `facts` needs only what read_surroundings() fills.
PolicyPlaces policy_places(const HostFacts& facts, const Path& workspace);

// Who must own the file. Any other user who can write it would control the policy.
enum class RequiredOwner : std::uint8_t { root, self, anyone };

inline constexpr std::size_t kLargestPolicyFile = std::size_t{1} << 20;

// The text of a policy file; nullopt when there is none. A file that cannot be read, is no regular
// file, is larger than 1 MiB, or is writable by others than its owner is an error: ignoring it
// would widen the sandbox. So is one whose directory is writable by others; where `path` is a symlink, the directory of
// the file it leads to counts as well.
Result<std::optional<std::string>> read_policy_file(const Path& path, RequiredOwner owner);

// The project's file: symlinks on the path from the workspace are refused.
Result<std::optional<std::string>> read_project_policy(const Path& workspace);

// An approval is for exactly this text at this path; a new one replaces the old one.
Result<bool> is_approved(const PolicyPlaces& places, std::string_view text);
Result<void> approve(const PolicyPlaces& places, std::string_view text, std::string_view when);
// Revokes the approval of any text. False when there was none.
Result<bool> revoke(const PolicyPlaces& places);

// Replaces `path` by `text` atomically; missing directories are created. The old file is kept as
// `path`.previous.
Result<void> replace_policy_file(const Path& path, std::string_view text);

}  // namespace coop::host
