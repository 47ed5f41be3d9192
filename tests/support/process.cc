#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/files.h"

namespace coop::tests {
namespace {

// Everything the child needs between fork and exec, prepared before: the test may have threads.
struct Prepared {
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string directory;
};

Prepared prepare(const Arguments& command, const RunOptions& options) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : options.environment) merged[name] = value;

  Prepared prepared;
  prepared.directory = options.directory;
  for (const auto& [name, value] : merged) prepared.variables.push_back(name + "=" + value);
  for (std::string& variable : prepared.variables) prepared.envp.push_back(variable.data());
  prepared.envp.push_back(nullptr);
  for (const std::string& argument : command)
    prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  return prepared;
}

[[noreturn]] void become(const Prepared& prepared) {
  // The program dies with the test.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0) ::_exit(120);
  ::execvpe(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  ::_exit(121);
}

// An unlinked file: a pipe would block on input that the program never reads.
int input_file(const std::string& text) {
  const int fd = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)!::write(fd, text.data(), text.size());
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

// False at EOF.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (into.size() < (std::size_t{64} << 20))
      into.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace

Process::Process(const Arguments& command, const RunOptions& options)
    : deadline_(std::chrono::steady_clock::now() + options.timeout) {
  const Prepared prepared = prepare(command, options);
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  const int input = options.input_fd >= 0 ? ::fcntl(options.input_fd, F_DUPFD_CLOEXEC, 3)
                                          : input_file(options.input);
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    ::setsid();
    ::dup2(input, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    become(prepared);
  }
  ::close(input);
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
  ::fcntl(out_, F_SETFL, O_NONBLOCK);
  ::fcntl(err_, F_SETFL, O_NONBLOCK);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap();
  }
  ::close(out_);
  ::close(err_);
  ::close(pidfd_);
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int Process::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return status;
}

Ran Process::finish() {
  Ran ran;
  std::array<pollfd, 3> watched{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0},
                                pollfd{pidfd_, POLLIN, 0}};
  while ((watched[2].revents & POLLIN) == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      ::kill(pid_, SIGKILL);
      reap();
      drain(out_, ran.out);
      drain(err_, ran.err);
      ran.err += "\n[stopped by the test: deadline]";
      return ran;
    }
    ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
    if (!drain(out_, ran.out)) watched[0].fd = -1;
    if (!drain(err_, ran.err)) watched[1].fd = -1;
  }
  drain(out_, ran.out);
  drain(err_, ran.err);
  ran.exit_code = exit_code_of(reap());
  return ran;
}

Ran run_bare(const Arguments& command, const RunOptions& options) {
  return Process(command, options).finish();
}

Ran run_coop(const Arguments& arguments, const RunOptions& options) {
  static const TempDir scratch;
  RunOptions full = options;
  full.environment.try_emplace("HOME", scratch.path());
  full.environment.try_emplace("XDG_STATE_HOME", scratch / "state");
  Arguments command{coop_binary()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_bare(command, full);
}

std::vector<pid_t> processes_with(const std::string& marker) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_file("/proc/" + name + "/cmdline").find(marker) != std::string::npos)
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

bool all_gone(const std::string& marker) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    if (processes_with(marker).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

std::string coop_binary() { return from_environment("COOP_BINARY", COOP_BINARY); }
std::string payload_binary() { return from_environment("COOP_PAYLOAD", COOP_PAYLOAD); }

}  // namespace coop::tests
