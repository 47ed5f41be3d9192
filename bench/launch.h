// Starts a program as cheaply as possible, so that only the program is measured.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "sys/fd.h"

namespace coop::bench {

// A file the program has open at this descriptor number, opened anew for each start.
struct OpenFile {
  int descriptor = -1;
  Path path{};
};

struct Launch {
  std::vector<std::string> arguments{};  // the first is an absolute path
  Path directory{};                      // working directory; empty: the current one
  std::vector<OpenFile> files{};
};

// A launch prepared before the clock starts. Streams are /dev/null. Thread-safe.
class Program {
 public:
  static Result<Program> prepare(Launch launch);

  // From posix_spawn to the return of waitpid, in microseconds. A failed program is an error.
  Result<double> time() const;
  // Leaves it running.
  Result<pid_t> start() const;
  // Runs once and returns its output; if it fails, the error has the last line of its stderr.
  Result<std::string> rehearse() const;

  const Launch& launch() const { return *launch_; }

 private:
  struct DestroyActions {
    void operator()(posix_spawn_file_actions_t* actions) const;
  };
  using Actions = std::unique_ptr<posix_spawn_file_actions_t, DestroyActions>;

  Program() = default;
  Result<Actions> actions_for(int output) const;
  Result<pid_t> spawn(const Actions& actions) const;

  std::unique_ptr<Launch> launch_{};  // on the heap: `words_` points into it
  std::vector<char*> words_{};
  UniqueFd null_{};
  Actions actions_{};
};

// The path of `name`; an error if it is not installed.
Result<Path> find_program(const std::string& name);

// Waits for it; a non-zero status is an error.
Result<void> wait_for(pid_t pid, const std::string& name);

}  // namespace coop::bench
