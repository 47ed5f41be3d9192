// Owners of file descriptors, and the basic file operations.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "coop/path.h"

namespace coop {

// Owns a descriptor. Never converts to int by itself; never retries close (Linux has freed the
// number even after EINTR, and a retry could close another thread's file).
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// All of these open close-on-exec.
Result<UniqueFd> open_file(const Path& path, int flags, unsigned mode = 0);
Result<UniqueFd> open_at(int directory, const std::string& name, int flags, unsigned mode = 0);
// Follows no symlink anywhere below `directory` and cannot leave it.
Result<UniqueFd> open_beneath(int directory, const std::string& name, int flags);
// Follows symlinks that stay below `directory`; any other is EXDEV.
Result<UniqueFd> open_within(int directory, const std::string& name, int flags);
// Resolves `name` as if `root` were "/": no symlink or ".." below leads out of it, and no magic
// link (/proc/self/root) is followed.
Result<UniqueFd> open_in_root(int root, const std::string& name, int flags);

// Follows symlinks, but no magic link (/proc/self/cwd, ELOOP): what it opens is the same for every process.
Result<UniqueFd> open_for_everyone(int directory, const std::string& name, int flags);

// Every read has a bound: an endless file or pipe must not use up the memory. More than `most` bytes is an error.
inline constexpr std::size_t kMostRead = std::size_t{64} << 20;
Result<std::string> read_all(int fd, std::string_view name, std::size_t most = kMostRead);
Result<std::string> read_file(const Path& path);
Result<void> write_all(int fd, std::string_view data, std::string_view name);
// Writes to an existing file (a kernel interface): no create, no truncate.
Result<void> write_existing(const Path& path, std::string_view data);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
Result<Pipe> make_pipe();

// flock(2), for two seconds at most: a process that was stopped while it has the lock must not stop all others.
Result<void> lock_file(int fd, int operation, const Path& path);

// Whether one of `events` of poll(2) holds now. An error counts, and so does the end of a stream; a pidfd is readable
// once its process has exited.
bool is_ready(int fd, short events = POLLIN);
void wait_until_ready(int fd, short events = POLLIN);

// Both ends of a SOCK_SEQPACKET pair.
Result<std::pair<UniqueFd, UniqueFd>> make_socket_pair();

}  // namespace coop
