// The child's state, and the helpers its operations share.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>

#include "child/program.h"
#include "raw/syscall.h"

namespace coop::child {

struct State {
  int root = -1;            // the new root, before and after pivot_root
  int mask_directory = -1;  // O_PATH of the staged masks
  int mask_file = -1;
  int mask_tree = -1;  // while files are staged
  int staged[kMostStagedFiles] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int home = -1;  // a kept home, and the empty one below it
  int empty_home = -1;
  int network = -1;
  int files = -1;
  int calls = -1;
  int terminal = -1;                  // the pty's slave, for the workload
  int ruleset = -1;                   // Landlock, between create and restrict
  int parent = -1;                    // the directory of the last new entry,
  const char* parent_path = nullptr;  // and its path; many entries share one
  std::size_t parent_length = 0;
  int control = -1;
};

// Closes the descriptor on every path out of a scope.
class ScopedFd {
 public:
  explicit ScopedFd(long fd) noexcept : fd_(fd) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() {
    if (fd_ >= 0) raw::call(SYS_close, fd_);
  }
  long get() const noexcept { return fd_; }
  bool failed() const noexcept { return fd_ < 0; }
  int error() const noexcept { return static_cast<int>(-fd_); }

 private:
  long fd_;
};

// With a descriptor, unless it is negative.
long send_with_descriptor(int socket, const void* data, std::size_t size, int fd,
                          int flags) noexcept;

// With at most `room` (3) descriptors, close-on-exec; `count` says how many came. The size, or -errno.
long receive_with_descriptors(int socket, void* data, std::size_t size, int* descriptors,
                              std::size_t room, std::size_t& count) noexcept;

// Answers one request for a socket, for a connection that comes from outside. False: the supervisor closed its end.
bool serve_socket(int network) noexcept;

// Turns a raw result into what apply() returns: 0 or an errno.
inline int error_of(long result) noexcept { return result < 0 ? static_cast<int>(-result) : 0; }

// One system call: 0 or an errno.
template <typename... Arguments>
int attempt(long number, Arguments... arguments) noexcept {
  return error_of(raw::call(number, arguments...));
}

inline std::size_t length_of(const char* text) noexcept {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

// Opens a path of the host. A symlink anywhere on it is an error: the planner resolved the path, so
// a symlink that appears now is an attack.
long open_on_host(const char* path, std::uint64_t flags) noexcept;

// The same below the new root, which it cannot leave.
long open_inside(const State& state, const char* path, std::uint64_t flags) noexcept;

// With a descriptor, unless it is negative.
void send_report(int control, const Report& report, int fd = -1) noexcept;

// The file must exist. 0 or an errno.
int write_file(const char* path, const char* text) noexcept;

// Both the soft and the hard limit of this process, capped by the present hard one.
int limit_resource(int resource, std::uint64_t most) noexcept;

// A detached mount of a new file system. Options are "key=value\0key\0…\0".
long new_filesystem(const char* type, const char* options, std::uint64_t attributes) noexcept;

// Unmaps the memory copied from the supervisor, except the current stack. The program image stays.
void forget_supervisor() noexcept;

[[noreturn]] void become_init(const Program& program, State& state) noexcept;
// In the forked workload.
[[noreturn]] void become_workload(const Program& program, const State& state) noexcept;

}  // namespace coop::child
