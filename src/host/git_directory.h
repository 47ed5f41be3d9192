// The few texts of a git directory that decide where git looks next. Parsers only, fuzzed: the
// texts may come from inside a sandbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coop::host {

// The path in a .git file ("gitdir: PATH"), read as git reads it. Nothing when git would refuse the
// file, or could read it in another way than we do.
std::optional<std::string> parse_gitfile(std::string_view text);

// The path in the `commondir` and `gitdir` files of a linked worktree's git directory.
std::optional<std::string> parse_pointer(std::string_view text);

// The last value of `section.key` in a git configuration; both are given in lower case. Sections
// with a subsection are others. Includes are not followed. Nothing when the text is malformed.
std::optional<std::string> config_value(std::string_view text, std::string_view section,
                                        std::string_view key);

}  // namespace coop::host
