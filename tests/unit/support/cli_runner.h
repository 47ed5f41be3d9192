// Runs the whole program in a child process of the test, with its own directory and environment.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "coop/path.h"

namespace coop::test {

struct Ran {
  int code = -1;
  std::string out{};
  std::string error{};
};

inline std::string contents_of_fd(int fd) {
  std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  [[maybe_unused]] const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  ::close(fd);
  return text;
}

// Nothing of the tester's environment but PATH is passed on.
inline Ran run_cli(const Path& directory, const std::map<std::string, std::string>& environment,
                   const std::vector<std::string>& arguments) {
  const int out = ::memfd_create("out", 0);
  const int error = ::memfd_create("error", 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string path = ::getenv("PATH") == nullptr ? "" : ::getenv("PATH");
    ::clearenv();
    ::setenv("PATH", path.c_str(), 1);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (::chdir(directory.c_str()) < 0) ::_exit(99);
    ::close(0);
    ::dup2(out, 1);
    ::dup2(error, 2);
    ::_exit(cli::main_with(arguments));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of_fd(out), contents_of_fd(error)};
}

}  // namespace coop::test
