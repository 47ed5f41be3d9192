// A simulated person at a terminal: types, reads, resizes, and remembers the settings before.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <string>

#include "support/process.h"

namespace coop::tests {

// The role of the command on its terminal.
enum class Role {
  leader,  // session leader, as with xterm -e: no shell can continue it
  job      // of a small shell, which stops, continues and exits as its job does
};

class Screen {
 public:
  // Starts the command on a new terminal in its usual (cooked) mode.
  Screen(const Arguments& command, const RunOptions& options, Role role = Role::leader);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  void type(const std::string& text) const;
  // Reads until the text has appeared since the last call; false after ten seconds.
  bool shows(const std::string& text);
  void resize(unsigned short rows, unsigned short columns) const;
  // To the command, or to its shell. SIGCONT and SIGKILL are passed on to the job.
  void signal(int number) const;
  // Switches echo off.
  void silence() const;

  // Its exit code; 128 + signal when killed, -1 after ten seconds.
  int finish();
  // Waits until the command itself is stopped by job control; false when it exits instead.
  bool stopped();

  // Whether the terminal is in canonical mode with echo: false while a program has it in raw mode.
  bool cooked() const;
  bool becomes(bool cooked_mode) const;

  const std::string& seen() const { return seen_; }

 private:
  void read_some(int milliseconds);

  int master_ = -1;
  int slave_ = -1;
  pid_t pid_ = -1;
  std::string seen_{};
  std::size_t looked_ = 0;
};

}  // namespace coop::tests
