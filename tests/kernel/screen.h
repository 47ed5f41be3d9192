// A person at a terminal, for tests: types, looks, resizes, and remembers what was there before.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <string>

#include "support/process.h"

namespace coop::tests {

// Who the command is on its terminal.
enum class Role {
  leader,  // of the session, as with a terminal's -e: nobody could continue it
  job      // of a small shell, which stops, goes on and ends as its job does
};

class Screen {
 public:
  // Starts the command on a new terminal in its usual (cooked) mode.
  Screen(const Arguments& command, const RunOptions& options, Role role = Role::leader);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  void type(const std::string& text) const;
  // Reads until the text has come since the last call; false after ten seconds.
  bool shows(const std::string& text);
  void resize(unsigned short rows, unsigned short columns) const;
  // To the command, or to its shell. SIGCONT and SIGKILL reach the job behind it.
  void signal(int number) const;
  // The terminal shows no more what is typed.
  void silence() const;

  // Its exit code; 128 + signal when killed, -1 after ten seconds.
  int finish();
  // Waits until the command itself is stopped, as by job control; false when it ends instead.
  bool stopped();

  // Whether the terminal echoes and edits lines: false while a program has it raw.
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
