// Starts programs from tests; everything has a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace coop::tests {

using Arguments = std::vector<std::string>;

struct Ran {
  int exit_code = -1;  // 128 + signal when killed; -1 when it had to be stopped at the deadline
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string input{};                               // the data on standard input
  int input_fd = -1;                                 // standard input itself, instead of `input`
  std::map<std::string, std::string> environment{};  // in addition to this process's
  std::string directory{};
  std::chrono::milliseconds timeout = std::chrono::seconds(150);
};

// A started program, in its own session. Destroying it kills it.
class Process {
 public:
  Process(const Arguments& command, const RunOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  // Sends to this process alone, not to what it started.
  void signal(int number) const;
  // Reads both streams until the program itself has exited: a daemon that it left may hold them
  // open for ever.
  Ran finish();

 private:
  int reap();

  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point deadline_;
};

// Starts COOP_BINARY with `arguments`; HOME and the state directory are temporary unless
// `options.environment` sets them.
Ran run_coop(const Arguments& arguments, const RunOptions& options = {});

// The same command without any sandbox: the control.
Ran run_bare(const Arguments& command, const RunOptions& options = {});

struct TerminalRan {
  Ran ran;           // both streams arrive in `out`
  int injected = 0;  // bytes in the terminal's input queue afterwards, which were not typed
};
// Runs the command as the session leader of a new terminal.
TerminalRan run_on_terminal(const Arguments& command, const RunOptions& options = {});

// Process ids whose command line has `marker` in it, in any PID namespace below ours.
std::vector<pid_t> processes_with(const std::string& marker);
// Waits up to five seconds for all of them to be gone.
bool all_gone(const std::string& marker);

// From the environment, else where the build put it.
std::string coop_binary();
std::string payload_binary();

}  // namespace coop::tests
