// Moving, copying and removing files and trees that an attacker may have made: of any depth, with a fixed number of
// descriptors.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace coop {

// An entry of an open directory.
struct EntryName {
  int directory = -1;
  std::string name{};
};

// Finds again what was copied, so that hard links of one file stay hard links of one copy. Serves several calls whose
// targets are on one file system; its destructor removes what it needs for that beside the first target.
class HardLinks {
 public:
  HardLinks() = default;
  HardLinks(const HardLinks&) = delete;
  HardLinks& operator=(const HardLinks&) = delete;
  ~HardLinks();

  // Called once, with the directory of the first target.
  void begin(int directory);
  // True when a copy of the file of this status is at `to` now.
  bool link(const struct stat& status, const EntryName& to) const;
  // A failure costs space only.
  void remember(const struct stat& status, const EntryName& copy);

 private:
  struct Copy {
    std::string name{};
    std::int64_t size = 0;
    timespec written{};
  };
  UniqueFd parent_{};
  UniqueFd directory_{};
  std::string name_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, Copy> copies_{};  // by device and inode
};

// Moves `from` to `to`, which must not exist: renames, or copies and then removes where the two are
// on different file systems. Follows no symlink. After an error `from` still has all its bytes, and
// `to` does not exist unless only the removal failed.
Result<void> move_tree(const EntryName& from, const EntryName& to, HardLinks* links = nullptr);

// Copies files (data, holes, mode, times), directories, symlinks, FIFOs, sockets and devices. Hard links
// of one another stay so. Everything is on disk when it returns.
Result<void> copy_tree(const EntryName& from, const EntryName& to, HardLinks& links);

// Removes an entry and everything below it. Continues after an error and reports the first.
Result<void> remove_tree(const EntryName& entry);

// Renames an entry within its directory; an existing `name` is an error.
Result<void> rename_entry(const EntryName& from, const EntryName& to);

}  // namespace coop
