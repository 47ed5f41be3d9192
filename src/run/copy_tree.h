// Copying and removing trees of any depth, with a fixed number of descriptors.
#pragma once

#include "base/result.h"
#include "run/move_tree.h"

namespace coop::run {

// Copies files (data, mode, times), directories, symlinks, FIFOs, sockets and devices. Hard links
// become files of their own. Everything is on disk when it returns.
Result<void> copy_tree(const EntryName& from, const EntryName& to);

// Removes an entry and all that is below it. Goes on after an error and reports the first.
Result<void> remove_tree(const EntryName& entry);

}  // namespace coop::run
