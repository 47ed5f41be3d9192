// The process inside whose system call waits for an answer.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <expected>
#include <string>

#include "sys/fd.h"

namespace coop::run {

// The errno that the caller's system call fails with, or a value.
template <typename T>
using Reply = std::expected<T, int>;

class Caller {
 public:
  static Reply<Caller> find(int listener, const seccomp_notif& asked);

  // A string of its memory, as the kernel would read a path.
  Reply<std::string> path(std::uint64_t address) const;
  // One of its descriptors, or with AT_FDCWD its working directory, as O_PATH.
  Reply<UniqueFd> descriptor(int number) const;
  Reply<UniqueFd> mount_namespace() const;

 private:
  Caller(int listener, const seccomp_notif& asked, UniqueFd task)
      : listener_(listener),
        id_(asked.id),
        pid_(static_cast<int>(asked.pid)),
        task_(std::move(task)) {}
  Reply<UniqueFd> open(const std::string& name, int flags) const;
  Reply<UniqueFd> copy_descriptor(int number) const;
  bool waits() const;

  int listener_;
  std::uint64_t id_;
  int pid_;        // of the thread; another process may have it once the caller is dead
  UniqueFd task_;  // its directory in /proc, which never becomes that of another process
};

}  // namespace coop::run
