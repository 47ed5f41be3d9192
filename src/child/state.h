// The child's registers, and the helpers its operations share.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>

#include "child/program.h"
#include "raw/syscall.h"

namespace coop::child {

struct State {
  int root = -1;            // the new root, before and after it was entered
  int mask_directory = -1;  // O_PATH of the staged masks
  int mask_file = -1;
  int mask_tree = -1;  // while files are staged
  int staged[kMostStagedFiles] = {-1, -1, -1, -1};
  int network = -1;
  int terminal = -1;                  // the pty's other end, for the workload
  int ruleset = -1;                   // Landlock, between create and restrict
  int parent = -1;                    // the directory the last new entry went into,
  const char* parent_path = nullptr;  // as its path began; many entries share one
  std::size_t parent_length = 0;
  int control = -1;
};

// Closes on every path out of a scope; nothing else, so that it costs nothing to read.
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

int apply_network(State& state, const Instruction& instruction) noexcept;
// Answers one question for a socket, for a connection that comes from outside. False: nobody will ask again.
bool serve_socket(int network) noexcept;

// Turns a raw result into what apply() returns: 0 or an errno.
inline int error_of(long result) noexcept { return result < 0 ? static_cast<int>(-result) : 0; }

// Opens a path of the host. A symlink anywhere on the way is an error: the planner resolved the
// path, so one that appears now was put there to lead us astray.
long open_on_host(const char* path, std::uint64_t flags) noexcept;

// The same below the new root, which it cannot leave.
long open_inside(const State& state, const char* path, std::uint64_t flags) noexcept;

// 0 or an errno.
int apply_mount(State& state, const Instruction& instruction) noexcept;
int apply_confinement(State& state, const Instruction& instruction) noexcept;

void send_report(int control, const Report& report) noexcept;
void send_descriptor(int control, const Report& report, int fd) noexcept;

// Gives back what was copied from the supervisor, but for the stack we run on. The image stays.
void forget_supervisor() noexcept;

[[noreturn]] void become_init(const Program& program, State& state) noexcept;
// In the forked workload.
[[noreturn]] void become_workload(const Program& program, const State& state) noexcept;

}  // namespace coop::child
