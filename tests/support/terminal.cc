// Runs a command on its own terminal.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "support/files.h"
#include "support/process.h"

namespace coop::tests {
namespace {

struct Terminal {
  int master = -1;
  int slave = -1;
};

// Raw and without echo: bytes in the input queue can be counted at once.
Terminal open_terminal() {
  Terminal terminal;
  terminal.master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (terminal.master < 0 || ::grantpt(terminal.master) != 0 || ::unlockpt(terminal.master) != 0)
    std::abort();
  terminal.slave = ::open(::ptsname(terminal.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal.slave < 0) std::abort();
  termios settings{};
  ::tcgetattr(terminal.slave, &settings);
  ::cfmakeraw(&settings);
  ::tcsetattr(terminal.slave, TCSANOW, &settings);
  return terminal;
}

}  // namespace

TerminalRan run_on_terminal(const Arguments& command, const RunOptions& options) {
  const Terminal terminal = open_terminal();
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::setsid();
    ::ioctl(terminal.slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; ++fd) ::dup2(terminal.slave, fd);
    if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(120);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(argv[0], argv.data());
    ::_exit(121);
  }

  TerminalRan result;
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  int status = 0;
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    ended = ::waitpid(child, &status, WNOHANG) == child;
    if (!ended) {
      pollfd ready{terminal.master, POLLIN, 0};
      ::poll(&ready, 1, 20);
    }
    std::array<char, 4096> buffer;
    ssize_t got = 0;
    while ((got = ::read(terminal.master, buffer.data(), buffer.size())) > 0)
      result.ran.out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  } else {
    result.ran.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  ::ioctl(terminal.slave, FIONREAD, &result.injected);
  ::close(terminal.slave);
  ::close(terminal.master);
  return result;
}

}  // namespace coop::tests
