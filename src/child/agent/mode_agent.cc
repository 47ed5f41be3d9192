#include "child/agent/mode_agent.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>

#include "child/process.h"
#include "child/state.h"

namespace coop::child {

namespace {

// From here on the kernel judges us as it judges the caller: "/" is its root, its id is ours, its groups are those that
// the sandbox got from us, and as root no capability opens other users' directories.
int become_like_caller(const ModeOrder& order) noexcept {
  if (order.owner >= 0)
    if (const int error = attempt(SYS_setns, order.owner, CLONE_NEWUSER)) return error;
  if (const int error = attempt(SYS_setns, order.mounts, CLONE_NEWNS)) return error;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return attempt(SYS_capset, &header, none);
}

// "self/fd/NUMBER"
struct OwnDescriptor {
  char text[24] = "self/fd/";
  explicit OwnDescriptor(long fd) noexcept {
    long unit = 1;
    while (fd / unit >= 10) unit *= 10;
    char* place = text + 8;
    for (; unit > 0; unit /= 10) *place++ = static_cast<char>('0' + fd / unit % 10);
    *place = '\0';
  }
};

// The descriptor is looked at and then changed, never the path again: whatever a process inside puts in its place
// meanwhile, what gets the bit is this directory. A directory cannot become a file.
int change(const ModeOrder& order, long object) noexcept {
  struct stat status{};
  if (const int error = attempt(SYS_newfstatat, object, "", &status, AT_EMPTY_PATH)) return error;
  if (S_ISLNK(status.st_mode)) return EOPNOTSUPP;
  if (!S_ISDIR(status.st_mode)) return EPERM;
  return attempt(SYS_fchmodat, order.proc, OwnDescriptor(object).text, order.mode);
}

int act(const ModeOrder& order) noexcept {
  if (const int error = become_like_caller(order)) return error;
  if (order.path == nullptr) return change(order, order.base);
  const std::uint64_t flags = O_PATH | O_CLOEXEC | (order.follow ? 0 : O_NOFOLLOW);
  const ScopedFd object(raw::call(SYS_openat, order.base, order.path, flags, 0));
  return object.failed() ? object.error() : change(order, object.get());
}

[[noreturn]] void work(const void* argument) noexcept {
  const auto& order = *static_cast<const ModeOrder*>(argument);
  const int result = act(order);
  raw::call(SYS_write, order.report, &result, sizeof result);
  for (;;) raw::call(SYS_exit_group, 0);
}

}  // namespace

long start_mode_agent(const ModeOrder& order, int& pidfd) noexcept {
  return clone_process({.pidfd = &pidfd}, work, &order);
}

}  // namespace coop::child
