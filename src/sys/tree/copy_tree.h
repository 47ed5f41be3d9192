// Copying and removing trees of any depth, with a fixed number of descriptors.
#pragma once

#include "base/result.h"
#include "sys/tree/move_tree.h"

namespace coop {

// Copies files (data, mode, times), directories, symlinks, FIFOs, sockets and devices. Hard links
// become separate files. Everything is on disk when it returns.
Result<void> copy_tree(const EntryName& from, const EntryName& to);

// Removes an entry and everything below it. Continues after an error and reports the first.
Result<void> remove_tree(const EntryName& entry);

}  // namespace coop
