#include "sys/fd.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/path.h"

namespace coop {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<UniqueFd> open_at(int directory, const std::string& name, int flags, unsigned mode) {
  UniqueFd fd(::openat(directory, name.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return system_error("open", name);
  return fd;
}

Result<UniqueFd> open_file(const Path& path, int flags, unsigned mode) {
  return open_at(AT_FDCWD, path, flags, mode);
}

namespace {

Result<UniqueFd> open_resolved(int directory, const std::string& name, int flags,
                               std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC);
  how.resolve = resolve;
  // EAGAIN: something on this machine was renamed or mounted while the kernel went through "..", and it cannot tell
  // whether that led out. Bounded: a loop of renames must not keep us here.
  constexpr int kMostTries = 1000;
  long fd = -1;
  for (int count = 0; count < kMostTries && fd < 0; ++count) {
    fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
    if (fd < 0 && errno != EAGAIN) break;
  }
  if (fd < 0) return system_error("openat2", name);
  return UniqueFd(static_cast<int>(fd));
}

}  // namespace

Result<UniqueFd> open_beneath(int directory, const std::string& name, int flags) {
  return open_resolved(directory, name, flags,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

Result<UniqueFd> open_within(int directory, const std::string& name, int flags) {
  return open_resolved(directory, name, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

Result<UniqueFd> open_for_everyone(int directory, const std::string& name, int flags) {
  return open_resolved(directory, name, flags, RESOLVE_NO_MAGICLINKS);
}

Result<UniqueFd> open_in_root(int root, const std::string& name, int flags) {
  return open_resolved(root, name, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

Result<std::string> read_all(int fd, std::string_view name, std::size_t most) {
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", name);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most)
      return invalid("read", in_quotes(name) + " has more than " + std::to_string(most) + " bytes");
  }
}

Result<std::string> read_file(const Path& path) {
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  return read_all(fd.get(), path);
}

Result<void> write_all(int fd, std::string_view data, std::string_view name) {
  while (!data.empty()) {
    const ssize_t count = ::write(fd, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", name);
    data.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> write_existing(const Path& path, std::string_view data) {
  UniqueFd fd = TRY(open_file(path, O_WRONLY));
  return write_all(fd.get(), data, path);
}

Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) < 0) return system_error("pipe2");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<void> lock_file(int fd, int operation, const Path& path) {
  constexpr int kAttempts = 200;
  for (int attempt = 0; ::flock(fd, operation | LOCK_NB) < 0; ++attempt) {
    if (errno != EWOULDBLOCK || attempt == kAttempts) return system_error("flock", path);
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt < 20 ? 1 : 10));
  }
  return {};
}

bool is_ready(int fd, short events) {
  pollfd watched{fd, events, 0};
  return ::poll(&watched, 1, 0) > 0;
}

void wait_until_ready(int fd, short events) {
  pollfd watched{fd, events, 0};
  while (::poll(&watched, 1, -1) < 0 && errno == EINTR) {
  }
}

Result<std::pair<UniqueFd, UniqueFd>> make_socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) < 0)
    return system_error("socketpair");
  return std::pair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

}  // namespace coop
