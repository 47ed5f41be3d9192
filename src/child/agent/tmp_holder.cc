#include "child/agent/tmp_holder.h"

#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "child/process.h"
#include "child/sandbox/trees.h"
#include "child/state.h"

namespace coop::child {

namespace {

// The caller's own ids alone, as in the sandboxes: files have the same owner in each of them.
int map_ids(const TmpHolder& holder) noexcept {
  if (const int error = attempt(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)) return error;
  if (const int error = write_file("/proc/self/setgroups", "deny")) return error;
  if (const int error = write_file("/proc/self/gid_map", holder.gid_map)) return error;
  if (const int error = write_file("/proc/self/uid_map", holder.uid_map)) return error;
  return attempt(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// The tmpfs becomes the root of the holder's mount namespace: before kernel 6.15 only mounts of the own namespace can be
// copied, and a copy of the host's mounts would keep its disks busy.
int make_root(const TmpHolder& holder) noexcept {
  const ScopedFd tree(new_filesystem("tmpfs", holder.options, holder.attributes));
  if (tree.failed()) return tree.error();
  forget_supervisor();  // needs /proc; `holder` lies on our own stack, what it points to does not
  if (const int error =
          attempt(SYS_move_mount, tree.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH))
    return error;
  if (const int error = attempt(SYS_fchdir, tree.get())) return error;
  if (const int error = attempt(SYS_pivot_root, ".", ".")) return error;
  if (const int error = attempt(SYS_umount2, ".", MNT_DETACH)) return error;
  return attempt(SYS_chdir, "/");
}

bool answer(int socket, HolderReport report, long tree) noexcept {
  return send_with_descriptor(socket, &report, sizeof report, static_cast<int>(tree),
                              MSG_NOSIGNAL) > 0;
}

bool serve(int socket, long root) noexcept {
  char request = 0;
  if (raw::call(SYS_recvfrom, socket, &request, sizeof request, 0, nullptr, nullptr) <= 0)
    return false;
  const ScopedFd tree(clone_tree(root));
  return answer(socket, {.error = tree.failed() ? tree.error() : 0}, tree.get());
}

[[noreturn]] void hold(const void* argument) noexcept {
  const TmpHolder holder = *static_cast<const TmpHolder*>(argument);
  const int socket = holder.socket;
  int error = close_all_but(&socket, 1);
  raw::call(SYS_prctl, PR_SET_NAME, "coop-tmp", 0, 0, 0);
  if (error == 0) error = map_ids(holder);
  if (error == 0) error = make_root(holder);
  const ScopedFd root(raw::call(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (error == 0 && root.failed()) error = root.error();
  if (answer(socket, {.error = error}, -1) && error == 0)
    while (serve(socket, root.get())) {
    }
  for (;;) raw::call(SYS_exit_group, 0);
}

}  // namespace

long start_tmp_holder(const TmpHolder& holder, int& pidfd) noexcept {
  return clone_process({.flags = CLONE_NEWUSER | CLONE_NEWNS, .pidfd = &pidfd}, hold, &holder);
}

}  // namespace coop::child
