// Moves files away that appeared under a guarded name during a run, and keeps them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "host/facts.h"

namespace coop::guards {

struct QuarantineReport {
  std::vector<Quarantined> moved{};
  std::vector<std::string> notes{};  // what could not be read or moved, and why
};

// What a mount could not prevent, and so must be checked after the run.
struct WatchedTrees {
  const std::vector<Path>& roots;         // writable trees of the host, canonical
  const std::vector<std::string>& names;  // guards in force
  const std::vector<Path>& mounted;       // guarded paths that were read-only all along
  std::span<const Path> served{};  // git directories whose guarded names only the host could change
};

// Looks through the trees again, after everything inside is dead, and moves what
// `before` does not have to `directory` (made when needed, mode 0700; relative paths are kept).
// `before` has one entry for each root, in order. Loses nothing: a file is removed from the
// workspace only once its copy is complete. Never follows a symlink.
QuarantineReport quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
                            const Path& directory);

}  // namespace coop::guards
