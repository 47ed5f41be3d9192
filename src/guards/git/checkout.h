// The file `gitdir` in the git directory of a linked worktree: it names the .git file of its checkout. The host's `git
// worktree repair` writes that file, wherever it lies, if its directory exists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/path.h"

namespace coop::guards {

// The guard of that file.
bool is_checkout_pointer(std::string_view guard);

// What such a file says, as a text to compare: also where that leads now, since a directory on the way may become a symlink.
// Nothing: it cannot be told.
std::optional<std::string> checkout_named_by(int git, const std::string& name);

// Whether two such texts differ at most in where they lead: then the file of before the run leads to the same place.
bool says_the_same(const std::vector<std::string>& left, const std::vector<std::string>& right);

// Why the file must not stay; nothing when the checkout lies in one of `trees`. `before`: what checkout_named_by() said
// before the run, if the file was there.
std::optional<std::string> danger_of_checkout(int git, const std::string& name,
                                              const std::vector<std::string>* before,
                                              const std::vector<Path>& trees);

}  // namespace coop::guards
