// Who commits: the only part of the user's git configuration that a sandbox without the home gets.
#pragma once

#include "host/facts.h"

namespace coop::guards {

// user.name and user.email of ~/.gitconfig, else of $XDG_CONFIG_HOME/git/config, else of /etc/gitconfig. Included files
// are not followed.
GitIdentity git_identity(const HostFacts& host);

}  // namespace coop::guards
