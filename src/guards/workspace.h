// Walks a writable tree for files that host programs obey.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "guards/git/names.h"
#include "guards/walk.h"
#include "host/facts.h"

namespace coop::guards {

// Walks `root` (canonical) without following symlinks and lists every path that one of `guards`
// names, at `root` itself, at the root of every nested repository and in every git directory:
// - ".git/NAME" means NAME in any git directory: a directory called .git, a submodule's under
// .git/modules, a worktree's under .git/worktrees, a bare repository (HEAD, objects and refs side
// by side);
// - ".git" alone means a .git file or symlink, and everything else that can redirect git to another
// directory: commondir files, symlinks in modules and worktrees. Those that lead to a git directory
// which is walked anyway are listed as harmless;
// - any other name is looked for at `root` and beside every .git found.
// A symlink is listed itself, and so is its target if that is in a writable tree. Also fills
// `outside_git`, and lists the guarded paths there. Paths in git's configuration (core.hooksPath,
// includes) are guarded like ".git/hooks" and ".git/config", in `root` and in the other `writable`
// trees; `named` lists them whether they exist or not.
Result<WorkspaceFacts> inspect_workspace(const Path& root, std::span<const std::string> guards,
                                         std::span<const Path> writable = {},
                                         const GitUser& user = {}, const TreeMemory& memory = {});

// What git's configuration names now and did not when `before` was made: a program of the host has changed it since. Of the user's
// settings outside of `trees`, the writable ones, and of the repositories that were `served`. To be added to `before.named`
// for inspect_again().
std::vector<NamedPath> named_now(std::span<const std::string> guards, const WorkspaceFacts& before,
                                 std::span<const GitDirectory> served,
                                 const std::vector<Path>& trees, GitUser user);

// A program changed the tree during the look, so that it missed something: look again.
struct SecondLook : WorkspaceFacts {
  bool disturbed = false;
};

// The same walk after the run, once. The outside git directories and the named paths are those of
// `before`: the files that prove or name them were writable meanwhile. A run may have made more guarded files than can be listed: the rest goes to `spill`.
Result<SecondLook> inspect_again(const Path& root, std::span<const std::string> guards,
                                 const WorkspaceFacts& before, std::span<const Path> writable = {},
                                 const Spill& spill = {}, const TreeMemory& memory = {});

}  // namespace coop::guards
