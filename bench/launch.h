// Starting a program the cheapest way there is, so that only the program is measured.
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

// A file the program finds open at a number, opened anew for each start.
struct OpenFile {
  int descriptor = -1;
  Path path{};
};

struct Launch {
  std::vector<std::string> arguments{};  // the first is an absolute path
  Path directory{};                      // where it starts; empty: here
  std::vector<OpenFile> files{};
};

// A launch with everything prepared before the clock starts. Streams are /dev/null. Every
// function may be called from many threads at once.
class Program {
 public:
  static Result<Program> prepare(Launch launch);

  // From posix_spawn to the end of waitpid, in microseconds. A failed program is an error.
  Result<double> time() const;
  // Leaves it running.
  Result<pid_t> start() const;
  // Runs once and gives what it wrote; when it fails, the error says what it complained about.
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

// Where `name` is on the usual path; an error that says it is not installed.
Result<Path> find_program(const std::string& name);

// 0, or what went wrong as a sentence.
Result<void> wait_for(pid_t pid, const std::string& name);

}  // namespace coop::bench
