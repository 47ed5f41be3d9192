// Names that no tool writes, whether there is such a file yet or not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coop/policy.h"

namespace coop::tools {

// The guard (of `names`, see policies/guards.txt) that writing a file at `path` below `root` would
// touch. Letters of either case are the same: the file system may think so too. Looks at `root` to
// tell git directories that are not called .git.
std::optional<std::string> guard_of(const Path& root, const Path& path,
                                    std::span<const std::string> names);

// SOUL.md, IDENTITY.md, USER.md: who the agent is, is not the agent's to write.
// Also what would lie below a directory of that name.
bool is_identity_file(std::string_view path);
// The same for commands: rules for the files at the top of the workspace, in whatever case they are written.
std::vector<PathRule> identity_rules(const Path& workspace);

}  // namespace coop::tools
