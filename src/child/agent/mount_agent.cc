#include "child/agent/mount_agent.h"

#include <linux/mount.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>

#include "child/process.h"
#include "child/sandbox/trees.h"
#include "child/state.h"

namespace coop::child {

namespace {

constexpr std::uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

struct Prepared {
  long tree = -1;             // a copy of the source, or an empty file
  long empty_directory = -1;  // for a path that is to be hidden
  int error = 0;
};

Prepared read_only_copy(long source) noexcept {
  const long tree = clone_tree(source);
  if (tree < 0) return {.error = error_of(tree)};
  return {.tree = tree, .error = set_attributes(tree, kReadOnly)};
}

// A file system with an empty file and an empty directory, mounted on top of everything: what is at "/" below it is still
// found by absolute paths.
long mount_masks() noexcept {
  const long masks = new_filesystem("tmpfs", "size=65536\0nr_inodes=16\0mode=0755\0",
                                    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (masks < 0) return masks;
  int error = attempt(SYS_move_mount, masks, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
  if (error == 0) error = attempt(SYS_mkdirat, masks, "d", 0555);
  if (error == 0) error = attempt(SYS_mknodat, masks, "f", S_IFREG, 0);
  return error == 0 ? masks : -error;
}

Prepared mask(long masks) noexcept {
  if (masks < 0) return {.error = error_of(masks)};
  const ScopedFd file(raw::call(SYS_openat, masks, "f", O_PATH | O_CLOEXEC, 0));
  const ScopedFd directory(raw::call(SYS_openat, masks, "d", O_PATH | O_CLOEXEC, 0));
  Prepared prepared = read_only_copy(file.get());
  const Prepared other = read_only_copy(directory.get());
  prepared.empty_directory = other.tree;
  if (prepared.error == 0) prepared.error = other.error;
  return prepared;
}

// A copy of the mount at a path of the host.
Prepared prepare(const AgentMount& wanted, long masks) noexcept {
  if (wanted.source == nullptr) return mask(masks);
  const ScopedFd source(open_on_host(wanted.source, O_PATH | O_NOFOLLOW));
  if (source.failed()) return {.error = source.error()};
  return read_only_copy(source.get());
}

bool look_at(long fd, struct stat& status) noexcept {
  return raw::call(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) >= 0;
}

bool same_object(long left, long right) noexcept {
  struct stat one{};
  struct stat other{};
  return look_at(left, one) && look_at(right, other) && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

bool is_directory(long fd) noexcept {
  struct stat status{};
  return look_at(fd, status) && S_ISDIR(status.st_mode);
}

// The sandbox may have moved directories on the way meanwhile: then it is another file, and nothing is mounted.
int place(const Prepared& prepared, const AgentMount& wanted) noexcept {
  if (prepared.error != 0) return prepared.error;
  const ScopedFd there(open_below(wanted.directory, wanted.target, O_PATH | O_NOFOLLOW));
  if (there.failed()) return there.error();
  if (prepared.empty_directory >= 0)
    return attach(is_directory(there.get()) ? prepared.empty_directory : prepared.tree,
                  there.get());
  if (!same_object(prepared.tree, there.get())) return ESTALE;
  return attach(prepared.tree, there.get());
}

// Only mounts of its own mount namespace can be copied: so it makes one, with the host's, before it enters the sandbox's.
int enter_host_copy(const AgentOrder& order) noexcept {
  if (order.owner >= 0)
    if (const int error = attempt(SYS_setns, order.owner, CLONE_NEWUSER)) return error;
  return attempt(SYS_unshare, CLONE_NEWNS);
}

[[noreturn]] void work(const void* argument) noexcept {
  const auto& order = *static_cast<const AgentOrder*>(argument);
  Prepared prepared[kMostAgentMounts];
  int error = enter_host_copy(order);
  const long masks = error == 0 ? mount_masks() : -error;
  for (std::size_t index = 0; index < order.count && error == 0; ++index)
    prepared[index] = prepare(order.list[index], masks);
  // From here on "/" is the sandbox's root.
  if (error == 0) error = attempt(SYS_setns, order.mounts, CLONE_NEWNS);
  for (std::size_t index = 0; index < order.count; ++index) {
    const int result = error != 0 ? error : place(prepared[index], order.list[index]);
    raw::call(SYS_write, order.report, &result, sizeof result);
  }
  raw::call(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace

long start_mount_agent(const AgentOrder& order, int& pidfd) noexcept {
  return clone_process({.pidfd = &pidfd}, work, &order);
}

}  // namespace coop::child
