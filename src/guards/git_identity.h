// Who commits, and by which short names: the only parts of the user's git configuration that a sandbox without the home gets.
#pragma once

#include "host/facts.h"

namespace coop::guards {

// user.name, user.email and aliases of ~/.gitconfig, else of $XDG_CONFIG_HOME/git/config, else of /etc/gitconfig. Included files
// are not followed. Aliases that run programs or set configuration, which may be a token, are left out.
GitIdentity git_identity(const HostFacts& host);

}  // namespace coop::guards
