#include "child/agent/mount_agent.h"

#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>

#include "child/process.h"
#include "child/sandbox/trees.h"
#include "child/state.h"

namespace coop::child {

namespace {

struct Prepared {
  long tree = -1;
  int error = 0;
};

// A copy of the mount at a path of the host.
Prepared prepare(const AgentMount& wanted) noexcept {
  const ScopedFd source(open_on_host(wanted.source, O_PATH | O_NOFOLLOW));
  if (source.failed()) return {.error = source.error()};
  const long tree = clone_tree(source.get());
  if (tree < 0) return {.error = error_of(tree)};
  return {.tree = tree, .error = set_attributes(tree, wanted.attributes)};
}

bool same_object(long left, long right) noexcept {
  struct stat one{};
  struct stat other{};
  return raw::call(SYS_newfstatat, left, "", &one, AT_EMPTY_PATH) >= 0 &&
         raw::call(SYS_newfstatat, right, "", &other, AT_EMPTY_PATH) >= 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The sandbox may have moved directories on the way meanwhile: then it is another file, and nothing is mounted.
int place(const Prepared& prepared, const char* target) noexcept {
  if (prepared.error != 0) return prepared.error;
  const ScopedFd there(open_on_host(target, O_PATH | O_NOFOLLOW));
  if (there.failed()) return there.error();
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
  for (std::size_t index = 0; index < order.count && error == 0; ++index)
    prepared[index] = prepare(order.list[index]);
  // From here on "/" is the sandbox's root.
  if (error == 0) error = attempt(SYS_setns, order.mounts, CLONE_NEWNS);
  for (std::size_t index = 0; index < order.count; ++index) {
    const int result = error != 0 ? error : place(prepared[index], order.list[index].target);
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
