// The program that a command leads to, and whether a sandbox or another user could have put it there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/facts.h"

namespace coop::request {

struct Program {
  Path found{};  // as $PATH leads to it
  Path real{};
};

// Where a sandbox of this request can write, canonical: the workspace, and granted trees.
struct WritableTrees {
  Path workspace{};
  Path repository{};  // around the workspace, if that is only a part of it
  std::vector<Path> others{};
};

// The outermost that the workspace is a part of: it may be a submodule. One that has the home in it (of settings) does not count; all
// programs of the user are in it. Both canonical.
Path repository_around(const Path& workspace, const Path& home);

// As execvp() would find it outside.
std::optional<Program> find_program(const std::string& command, const HostFacts& facts);

// The reason, as the second half of a sentence. Every name on the way counts, each symlink too: what it leads to now may not be
// what it leads to at the next start.
std::optional<std::string> why_not_trusted(const Program& program, const WritableTrees& writable,
                                           const HostFacts& facts);

}  // namespace coop::request
