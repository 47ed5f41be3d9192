// Moving files and trees that an attacker may have made.
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

// Renames an entry within its directory; an existing `name` is an error.
Result<void> rename_entry(const EntryName& from, const EntryName& to);

}  // namespace coop
