// Copying one entry that is not a directory.
#pragma once

#include <sys/stat.h>

#include "base/result.h"
#include "sys/tree/move_tree.h"

namespace coop {

// The bits of st_mode that chmod(2) sets.
inline constexpr mode_t kPermissions = 07777;

// `status` is the entry's own. Symlinks are copied as symlinks; FIFOs, sockets and devices are
// created anew and never opened.
Result<void> copy_entry(const EntryName& from, const struct stat& status, const EntryName& to);

}  // namespace coop
