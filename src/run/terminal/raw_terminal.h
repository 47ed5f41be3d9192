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

  void enter();
  void leave();

  bool valid() const { return valid_; }
  const termios& before() const { return before_; }

 private:
  int fd_;
  termios before_{};
  bool valid_;
};

// For a process that outlives the supervisor: restores the mode unless it was changed since.
void restore_if_raw(int fd, const termios& before);

}  // namespace coop::run
