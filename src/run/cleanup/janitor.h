// A small process that outlives a killed supervisor just long enough to clean up after it. One
// serves all sandboxes of a process. It sleeps while the supervisor lives.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "child/tether/janitor.h"
#include "run/cleanup/cleanup.h"
#include "sys/fd.h"

namespace coop::run {

class Janitor {
 public:
  // The janitor of this process: forked when first asked for, ended with the last reference.
  // A program with several threads sees a SIGCHLD when it ends.
  static Result<std::shared_ptr<Janitor>> of_this_process();

  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  ~Janitor();

 private:
  friend class Charge;
  Janitor() = default;
  static Result<std::shared_ptr<Janitor>> start();
  bool serves_this_process() const;

  pid_t owner_ = 0;
  UniqueFd socket_{};
  UniqueFd pidfd_{};
  std::atomic<std::uint64_t> next_ = 1;
};

// The registration of one sandbox with the janitor; its destructor ends it. If this process dies
// first, the janitor waits for the sandbox's init to exit and does the cleanup.
class Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept { *this = std::move(other); }
  Charge& operator=(Charge&& other) noexcept {
    std::swap(janitor_, other.janitor_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Charge() { end(); }

  // `pidfd`: the sandbox's init, or -1 if it is passed later to watch().
  static Result<Charge> give(Cleanup cleanup, int pidfd = -1);

  Result<void> watch(int pidfd) const;
  // `fd` is about to be set to raw mode. If this process dies first, the janitor restores these
  // settings.
  Result<void> watch_terminal(int fd, const termios& before) const;
  // A command is about to run: from now on what is new in the workspace may be its work. Before, nothing is taken away.
  Result<void> begin() const { return send({child::JanitorOrder::begin, number_}, -1); }
  // In place of the cleanup that was given.
  Result<void> renew(Cleanup cleanup) const;
  // The run's record counts as long as the janitor may have something to do.
  Result<void> hold_record(int record) const;
  // One of the writable trees, in the order of the cleanup's roots.
  Result<void> hold_tree(int tree) const;
  // The sandbox's root and its mount namespace, for the look at guarded files.
  Result<void> watch_view(int root, int mounts) const;
  bool given() const { return janitor_ != nullptr; }
  // The supervisor has done the cleanup itself.
  void end();

 private:
  Result<void> send(const child::JanitorMessage& message, int descriptor) const;  // -1: none

  std::shared_ptr<Janitor> janitor_{};
  std::uint64_t number_ = 0;
};

}  // namespace coop::run
