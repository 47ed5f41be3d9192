#include "sys/tree/move_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "sys/tree/directory_stack.h"

namespace coop {

Result<void> rename_entry(const EntryName& from, const EntryName& to) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags);
  };
  if (rename(RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL) return system_error("rename", from.name);
  // Some file systems (such as NFS) do not support RENAME_NOREPLACE: check first.
  struct stat status{};
  if (::fstatat(to.directory, to.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return system_error_of(EEXIST, "rename", from.name);
  if (rename(0) < 0) return system_error("rename", from.name);
  return {};
}

Result<void> move_tree(const EntryName& from, const EntryName& to, HardLinks* links) {
  struct stat status{};
  if (::fstatat(from.directory, from.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return system_error("stat", from.name);

  Result<void> renamed;
  if (S_ISDIR(status.st_mode)) {
    // Moving a directory to another parent changes its "..", so it must be writable itself. The
    // stack restores the mode when it is destroyed, wherever the directory is by then.
    DirectoryStack directory = TRY(DirectoryStack::open(from.directory, from.name));
    directory.make_writable();
    renamed = rename_entry(from, to);
  } else {
    renamed = rename_entry(from, to);
  }
  if (renamed || renamed.error().errno_value != EXDEV) return renamed;

  HardLinks own;
  if (Result<void> copied = copy_tree(from, to, links != nullptr ? *links : own); !copied) {
    // Discard the partial copy: the original is complete and stays.
    (void)remove_tree(to);
    return copied;
  }
  return remove_tree(from);
}

}  // namespace coop
