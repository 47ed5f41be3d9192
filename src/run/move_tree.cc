#include "run/move_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "host/directory_stack.h"
#include "run/copy_tree.h"

namespace coop::run {

Result<void> rename_entry(const EntryName& from, const EntryName& to) {
  const auto rename = [&](unsigned flags) {
    return ::renameat2(from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags);
  };
  if (rename(RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL) return system_error("rename", from.name);
  // Some file systems (NFS among them) cannot promise not to replace: look first, then.
  struct stat status{};
  if (::fstatat(to.directory, to.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return system_error_of(EEXIST, "rename", from.name);
  if (rename(0) < 0) return system_error("rename", from.name);
  return {};
}

Result<void> move_tree(const EntryName& from, const EntryName& to) {
  struct stat status{};
  if (::fstatat(from.directory, from.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return system_error("stat", from.name);

  Result<void> renamed;
  if (S_ISDIR(status.st_mode)) {
    // Giving a directory another parent changes its "..", so it must be writable itself. The stack
    // gives the mode back when it goes, wherever the directory is by then.
    host::DirectoryStack directory = TRY(host::DirectoryStack::open(from.directory, from.name));
    directory.make_writable();
    renamed = rename_entry(from, to);
  } else {
    renamed = rename_entry(from, to);
  }
  if (renamed || renamed.error().errno_value != EXDEV) return renamed;

  if (Result<void> copied = copy_tree(from, to); !copied) {
    // What is copied so far is worth nothing: the original is complete and stays.
    (void)remove_tree(to);
    return copied;
  }
  return remove_tree(from);
}

}  // namespace coop::run
