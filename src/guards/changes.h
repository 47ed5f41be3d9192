// Whether a change to a guarded file can make a host program do something.
#pragma once

#include <string>
#include <string_view>

#include "guards/versions.h"

namespace coop::guards {

// True for git settings that differ only by what `git remote add`, `git push -u`, `git branch` and the like write: where to
// fetch from, what a branch tracks, who commits. No such setting names a program or a file that git obeys. The remotes that
// were there lead where they did: with another URL the user's next "git push" would go elsewhere.
bool is_harmless_change(std::string_view guard, const Version& before, const Version& now);

}  // namespace coop::guards
