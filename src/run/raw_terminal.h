// The caller's terminal, raw during an interactive run: every byte goes to the sandbox's own.
#pragma once

#include <termios.h>

namespace coop::run {

// Gives the terminal back as it was, also when the process is stopped. Nothing happens to what is no
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

// For a process that outlives the one that made it raw: gives it back unless someone has set it since.
void restore_if_raw(int fd, const termios& before);

}  // namespace coop::run
