// Moves files away that appeared under a guarded name during a run, and keeps them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/sandbox.h"
#include "guards/git/names.h"
#include "guards/git/touched_files.h"
#include "guards/versions.h"
#include "host/facts.h"
#include "sys/tree/tree_watch.h"

namespace coop::guards {

struct QuarantineReport {
  std::vector<Quarantined> moved{};  // the first of them
  std::uint64_t total = 0;           // all that were moved
  std::vector<std::string> notes{};  // what could not be read or moved, and why
  bool complete = true;              // false: guarded files of the run may still be there
  std::vector<GitDirectory> git{};   // all that are there now; some may be listed twice
};

// A directory of the sandbox, held open because what runs inside can rename those on the way to it.
struct InsideTree {
  Path place{};  // where it was at first
  int directory = -1;
};

// What the sandbox sees, while its mounts exist.
struct InsideView {
  int root = -1;  // -1: there is none
  std::span<const InsideTree> trees{};

  // Where to begin with an absolute path inside: the tree that it is in, else the root.
  InsideTree start_of(const Path& path) const;
};

// What a mount could not prevent, and so must be checked after the run.
struct WatchedTrees {
  const std::vector<Path>& roots;         // writable trees of the host, canonical
  const std::vector<std::string>& names;  // guards in force
  const std::vector<Path>& mounted;       // guarded paths that were read-only at first
  const std::vector<Path>& places;        // where each of `mounted` is inside
  const Versions& versions;               // what they contained
  InsideView view{};
  std::span<const GitDirectory>
      served{};  // git directories whose guarded names only the host could change
  // Guarded paths, sorted, that may have been made or changed by the sandbox of another run: see run_record.h. They
  // stay as they were, and are never put back.
  std::span<const Path> doubtful{};
  // Of `mounted`: whose mount was lost and made again. The sandbox may have opened them in between.
  std::span<const Path> gaps{};
  Touched
      touched{};  // files in `served` that the sandbox could write, under names that are not guarded
  Path indexes{};  // of earlier looks; empty: everything is listed
  TreeWatch* watch = nullptr;
  GitUser git_user{};  // whose configuration counts
  // Of `doubtful`, sorted: what the other run made and will not judge any more. It is judged here as new.
  std::span<const Path> abandoned{};
};

// Looks through the trees again, after everything inside is dead, and moves what
// `before` does not have to `directory` (made when needed, mode 0700; relative paths are kept, but for those
// beyond the first thousand or so). A guarded file that has changed stays as long as its mount shows that the sandbox
// could not write it: then the host's user changed it. If the sandbox could, it is moved and its version put back.
// `before` has one entry for each root, in order. Loses nothing: a file is removed from the
// workspace only once its copy is complete. Never follows a symlink.
QuarantineReport quarantine(const WatchedTrees& trees, const std::vector<WorkspaceFacts>& before,
                            const Path& directory);

}  // namespace coop::guards
