// What in a fresh /proc belongs to the machine and not to a process.
#include <dirent.h>
#include <linux/mount.h>

#include <cerrno>

#include "child/sandbox/operations.h"
#include "child/state.h"

namespace coop::child {

namespace {

int change_mount(long mount, std::uint64_t set, std::uint64_t clear) noexcept {
  mount_attr wanted{};
  wanted.attr_set = set;
  wanted.attr_clr = clear;
  return attempt(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &wanted, sizeof wanted);
}

// The names of processes are numbers.
bool is_of_a_process(const char* name) noexcept {
  for (; *name != '\0'; ++name)
    if (*name < '0' || *name > '9') return false;
  return true;
}

bool is_dots(const char* name) noexcept {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// Mounts the entry of a read-only mount over itself: the copy is read-only as well.
int mount_over_itself(long directory, const char* name) noexcept {
  const ScopedFd tree(raw::call(SYS_open_tree, directory, name,
                                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW));
  if (tree.failed()) return tree.error();
  return attempt(SYS_move_mount, tree.get(), "", directory, name, MOVE_MOUNT_F_EMPTY_PATH);
}

}  // namespace

namespace operation {

// uid 0 of the machine owns these entries in every /proc, and passes their permission checks without any capability: it could
// write some of them, and change the mode of all, which counts for every /proc. The mount is read-only while they are copied,
// so that each takes two calls instead of three. Symlinks lead to entries of processes and have no mode.
int protect_proc(State& state, const Instruction& instruction) noexcept {
  const ScopedFd proc(open_inside(state, instruction.path, O_RDONLY | O_DIRECTORY));
  if (proc.failed()) return proc.error();
  if (const int error = change_mount(proc.get(), MOUNT_ATTR_RDONLY, 0)) return error;
  alignas(dirent64) char buffer[4096] = {};  // the analyzer cannot see that the kernel fills it
  for (;;) {
    const long size = raw::call(SYS_getdents64, proc.get(), buffer, sizeof buffer);
    if (size < 0) return error_of(size);
    if (size == 0) break;
    for (long offset = 0; offset < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + offset);
      offset += entry->d_reclen;
      const char* const name = entry->d_name;
      if (entry->d_type == DT_LNK || is_dots(name) || is_of_a_process(name)) continue;
      // A driver that is unloaded meanwhile removes its own.
      const int error = mount_over_itself(proc.get(), name);
      if (error != 0 && error != ENOENT) return error;
    }
  }
  return change_mount(proc.get(), 0, MOUNT_ATTR_RDONLY);
}

}  // namespace operation

}  // namespace coop::child
