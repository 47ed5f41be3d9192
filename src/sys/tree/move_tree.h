// Moving, copying and removing files and trees that an attacker may have made: of any depth, with a fixed number of
// descriptors.
#pragma once

#include <string>

#include "base/result.h"

namespace coop {

// An entry of an open directory.
struct EntryName {
  int directory = -1;
  std::string name{};
};

// Moves `from` to `to`, which must not exist: renames, or copies and then removes where the two are
// on different file systems. Follows no symlink. After an error `from` still has all its bytes, and
// `to` does not exist unless only the removal failed.
Result<void> move_tree(const EntryName& from, const EntryName& to);

// Copies files (data, mode, times), directories, symlinks, FIFOs, sockets and devices. Hard links
// become separate files. Everything is on disk when it returns.
Result<void> copy_tree(const EntryName& from, const EntryName& to);

// Removes an entry and everything below it. Continues after an error and reports the first.
Result<void> remove_tree(const EntryName& entry);

// Renames an entry within its directory; an existing `name` is an error.
Result<void> rename_entry(const EntryName& from, const EntryName& to);

}  // namespace coop
