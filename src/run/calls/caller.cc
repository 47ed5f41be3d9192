#include "run/calls/caller.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace coop::run {

Reply<Caller> Caller::find(int listener, const seccomp_notif& asked) {
  const std::string name = "/proc/" + std::to_string(asked.pid);
  UniqueFd task(::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Caller caller(listener, asked, std::move(task));
  if (!caller.task_.valid() || !caller.waits()) return std::unexpected(EPERM);
  return caller;
}

// The caller may have died before we used its number, and the number may be another process's by now. If its call still
// waits, the number was the caller's all the time.
bool Caller::waits() const {
  std::uint64_t id = id_;
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

Reply<UniqueFd> Caller::open(const std::string& name, int flags) const {
  UniqueFd file(::openat(task_.get(), name.c_str(), flags | O_CLOEXEC));
  if (!file.valid()) return std::unexpected(errno == ENOENT ? EBADF : EPERM);
  return file;
}

// Not /proc/PID/mem, which belongs to root when the caller is not dumpable. A program that may not be read (mode 0711, of
// another owner) may not be looked into by an ordinary user either: its call is refused.
Reply<std::string> Caller::path(std::uint64_t address) const {
  std::array<char, PATH_MAX> text;
  // At most to the end of the next page: one that is not mapped must not hide the one before.
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = std::min<std::uint64_t>(text.size(), page - address % page);
  const std::array parts{iovec{reinterpret_cast<void*>(address), first},
                         iovec{reinterpret_cast<void*>(address + first), text.size() - first}};
  const iovec own{text.data(), text.size()};
  const ssize_t size = ::process_vm_readv(pid_, &own, 1, parts.data(), parts.size(), 0);
  if (size <= 0) return std::unexpected(size < 0 && errno == EPERM ? EPERM : EFAULT);
  if (!waits()) return std::unexpected(EPERM);
  const auto length = static_cast<std::size_t>(size);
  const std::size_t end = ::strnlen(text.data(), length);
  if (end == length) return std::unexpected(length == text.size() ? ENAMETOOLONG : EFAULT);
  return std::string(text.data(), end);
}

// For a caller that is not dumpable, whose /proc/PID/fd belongs to root. Only the first thread of a process has a pidfd
// (before 6.9); another thread's call is refused then.
Reply<UniqueFd> Caller::copy_descriptor(int number) const {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process.valid() || !waits()) return std::unexpected(EPERM);
  UniqueFd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
  if (!copy.valid()) return std::unexpected(errno == EBADF ? EBADF : EPERM);
  return copy;
}

Reply<UniqueFd> Caller::descriptor(int number) const {
  if (number == AT_FDCWD) return open("cwd", O_PATH);
  if (number < 0) return std::unexpected(EBADF);
  Reply<UniqueFd> opened = open("fd/" + std::to_string(number), O_PATH);
  return opened || opened.error() == EBADF ? std::move(opened) : copy_descriptor(number);
}

Reply<UniqueFd> Caller::mount_namespace() const { return open("ns/mnt", O_RDONLY); }

}  // namespace coop::run
