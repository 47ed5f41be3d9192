// The caller's terminal, in raw mode during an interactive run: every byte goes to the sandbox's
// pty.
#pragma once

#include <termios.h>

namespace coop::run {

// Restores the terminal, also when the process is stopped. Does nothing if the descriptor is no
// terminal.
class RawTerminal {
 public:
  explicit RawTerminal(int fd) : fd_(fd), valid_(::tcgetattr(fd, &before_) == 0) {}
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() { leave(); }

  // Takes the present mode as the one to restore: what a shell has set since. Not while it is raw.
  void look();
  // Not while in_background(): the mode is another job's then, and changing it would stop us with SIGTTOU.
  void enter();
  void leave();

  bool valid() const { return valid_; }
  // Whether another job has the terminal ("coop run … &").
  bool in_background() const;
  bool entered() const { return entered_; }
  const termios& before() const { return before_; }

 private:
  int fd_;
  termios before_{};
  bool valid_;
  bool entered_ = false;
};

// For a process that outlives the supervisor: restores the mode unless it was changed since.
void restore_if_raw(int fd, const termios& before);

}  // namespace coop::run
