// Copying one entry that is not a directory.
#pragma once

#include <sys/stat.h>

#include "base/result.h"
#include "run/move_tree.h"

namespace coop::run {

// `status` is the entry's own. Symlinks are copied as such; FIFOs and the like are made anew and
// never opened.
Result<void> copy_entry(const EntryName& from, const struct stat& status, const EntryName& to);

}  // namespace coop::run
