// Looks through a writable tree for what the host's own programs would obey.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "host/facts.h"
#include "host/git_names.h"

namespace coop::host {

// Walks `root` (canonical) without following symlinks and lists every path that one of `guards`
// names, at `root` itself, at the root of every nested repository and in every git directory:
//  - ".git/NAME" stands for NAME in any git directory: a directory called .git, a submodule's under
//    .git/modules, a worktree's under .git/worktrees, a bare repository (HEAD, objects and refs side
//    by side);
//  - ".git" (the bare word) stands for a .git file or symlink, and for what else can lead git to
//    another directory: commondir files, symlinks in modules and worktrees. Those that lead to a
//    git directory which is looked at anyway are listed as harmless;
//  - any other name is looked for at `root` and beside every .git found.
// A symlink is listed itself, and so is what it leads to if that lies in a writable tree.
// Also fills `outside_git`, and lists what is guarded in there.
// What git's configuration names as core.hooksPath or includes is guarded like ".git/hooks" and
// ".git/config", in `root` and in the other trees that are `writable`; it is listed in `named`
// whether it exists or not.
Result<WorkspaceFacts> inspect_workspace(const Path& root, std::span<const std::string> guards,
                                         std::span<const Path> writable = {},
                                         const GitUser& user = {});

// The same look when the run is over. The git directories outside and the named paths are those of
// `before`: what proves or names them was writable meanwhile. Looks at more entries before it gives
// up.
Result<WorkspaceFacts> inspect_again(const Path& root, std::span<const std::string> guards,
                                     const WorkspaceFacts& before,
                                     std::span<const Path> writable = {});

}  // namespace coop::host
