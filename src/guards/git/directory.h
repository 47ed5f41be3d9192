// The files of a git directory that redirect git. Parsers only, fuzzed: the texts may come from
// inside a sandbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coop::guards {

// The path in a .git file ("gitdir: PATH"), parsed as git does. Nothing if git would refuse the
// file, or could parse it differently.
std::optional<std::string> parse_gitfile(std::string_view text);

// The path in the `commondir` and `gitdir` files of a linked worktree's git directory.
std::optional<std::string> parse_pointer(std::string_view text);

// The last value of `section.key` in a git configuration; both in lower case. Sections with a
// subsection are different ones. Includes are not followed. Nothing if the text is malformed.
std::optional<std::string> config_value(std::string_view text, std::string_view section,
                                        std::string_view key);

// Whether a git configuration has a password or token in it: a user in an HTTP URL, or a header for requests.
bool has_token(std::string_view text);

}  // namespace coop::guards
