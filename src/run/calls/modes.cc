#include "run/calls/modes.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "child/agent/mode_agent.h"
#include "sys/process.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452  // 6.6
#endif

namespace coop::run {

namespace {

// The arguments, wherever the call has them.
struct ModeCall {
  int base = AT_FDCWD;
  std::optional<std::uint64_t> path{};  // an address; none: `base` is meant
  std::uint32_t mode = 0;
  int flags = 0;
};

ModeCall read(const seccomp_data& call) {
  const auto number = [&](std::size_t index) { return static_cast<int>(call.args[index]); };
  const auto mode = [&](std::size_t index) {
    return static_cast<std::uint32_t>(call.args[index]) & ALLPERMS;
  };
  switch (call.nr) {
    case SYS_fchmod: return {.base = number(0), .mode = mode(1)};
    case SYS_fchmodat: return {.base = number(0), .path = call.args[1], .mode = mode(2)};
    case SYS_fchmodat2:
      return {.base = number(0), .path = call.args[1], .mode = mode(2), .flags = number(3)};
    default: return {.path = call.args[0], .mode = mode(1)};  // chmod
  }
}

// "/proc/self/fd/7", which glibc's fchmodat() uses where there is no fchmodat2. The agent is another process, and "self"
// would not be the caller.
std::optional<int> own_descriptor(std::string_view path) {
  for (const std::string_view directory : {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"}) {
    if (!path.starts_with(directory)) continue;
    path.remove_prefix(directory.size());
    constexpr std::size_t kMostDigits = 9;
    if (path.empty() || path.size() > kMostDigits ||
        path.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    return std::stoi(std::string(path));
  }
  return std::nullopt;
}

bool is_own_user_namespace(int owner) {
  struct stat one{};
  struct stat other{};
  return ::fstat(owner, &one) == 0 && ::stat("/proc/self/ns/user", &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// What is not possible here is refused: the caller gets EPERM, as for a file.
int ask_agent(const Caller& caller, child::ModeOrder order) {
  const Reply<UniqueFd> mounts = caller.mount_namespace();
  if (!mounts) return EPERM;
  UniqueFd owner(::ioctl(mounts->get(), NS_GET_USERNS));
  const UniqueFd proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  Result<Pipe> report = make_pipe();
  if (!owner.valid() || !proc.valid() || !report) return EPERM;
  if (is_own_user_namespace(owner.get())) owner.reset();
  order.owner = owner.get();
  order.mounts = mounts->get();
  order.proc = proc.get();
  order.report = report->write.get();
  int pidfd = -1;
  if (child::start_mode_agent(order, pidfd) < 0) return EPERM;
  const UniqueFd agent(pidfd);
  report->write.reset();
  int result = EPERM;
  if (::read(report->read.get(), &result, sizeof result) != sizeof result) result = EPERM;
  collect(agent.get());
  return result;
}

}  // namespace

int set_mode(const Caller& caller, const seccomp_data& asked) {
  ModeCall call = read(asked);
  constexpr int kFlags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  if ((call.flags & ~kFlags) != 0) return EINVAL;
  const bool follow = (call.flags & AT_SYMLINK_NOFOLLOW) == 0;
  // AT_FDCWD, a negative number, means a directory only where there is a path.
  if (!call.path && call.base < 0) return EBADF;
  std::string path;
  if (call.path) {
    Reply<std::string> read = caller.path(*call.path);
    if (!read) return read.error();
    path = *std::move(read);
    if (path.empty() && (call.flags & AT_EMPTY_PATH) == 0) return ENOENT;
    if (const std::optional<int> own = follow ? own_descriptor(path) : std::nullopt) {
      call.base = *own;
      path.clear();
    }
  }
  UniqueFd base;
  if (!path.starts_with('/')) {
    Reply<UniqueFd> opened = caller.descriptor(call.base);
    if (!opened) return opened.error();
    base = *std::move(opened);
  }
  return ask_agent(caller, {.base = base.get(),
                            .path = path.empty() ? nullptr : path.c_str(),
                            .follow = follow,
                            .mode = call.mode});
}

}  // namespace coop::run
