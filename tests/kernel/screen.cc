#include "kernel/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>
#include <vector>

namespace coop::tests {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point in_a_minute() { return Clock::now() + std::chrono::seconds(60); }

// Returns in the job, which has its own foreground process group.
void become_shell_of_a_job() {
  ::signal(SIGTTOU, SIG_IGN);
  const pid_t job = ::fork();
  if (job == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    ::tcsetpgrp(0, ::getpid());
    ::signal(SIGTTOU, SIG_DFL);
    return;
  }
  for (int status = 0; ::waitpid(job, &status, WUNTRACED) == job;) {
    if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
    if (WIFSIGNALED(status)) ::_exit(128 + WTERMSIG(status));
    ::raise(SIGSTOP);
    ::kill(-job, SIGCONT);
  }
  ::_exit(122);
}

}  // namespace

Screen::Screen(const Arguments& command, const RunOptions& options, Role role) {
  master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) std::abort();
  slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave_ < 0) std::abort();
  resize(24, 80);
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  ::ioctl(slave_, TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; ++fd) ::dup2(slave_, fd);
  if (role == Role::job) become_shell_of_a_job();
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(120);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(argv[0], argv.data());
  ::_exit(121);
}

Screen::~Screen() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(slave_);
  ::close(master_);
}

void Screen::type(const std::string& text) const {
  (void)!::write(master_, text.data(), text.size());
}

void Screen::resize(unsigned short rows, unsigned short columns) const {
  const winsize size{rows, columns, 0, 0};
  ::ioctl(master_, TIOCSWINSZ, &size);
}

void Screen::signal(int number) const { ::kill(pid_, number); }

void Screen::silence() const {
  termios settings{};
  ::tcgetattr(slave_, &settings);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(slave_, TCSANOW, &settings);
}

void Screen::read_some(int milliseconds) {
  pollfd ready{master_, POLLIN, 0};
  ::poll(&ready, 1, milliseconds);
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(master_, buffer.data(), buffer.size())) > 0;)
    seen_.append(buffer.data(), static_cast<std::size_t>(got));
}

bool Screen::shows(const std::string& text) {
  for (const auto deadline = in_a_minute(); Clock::now() < deadline; read_some(20)) {
    const std::size_t at = seen_.find(text, looked_);
    if (at == std::string::npos) continue;
    looked_ = at + text.size();
    return true;
  }
  return false;
}

int Screen::finish() {
  int status = 0;
  for (const auto deadline = in_a_minute(); Clock::now() < deadline; read_some(20)) {
    if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
    pid_ = -1;
    read_some(0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return -1;
}

bool Screen::stopped() {
  int status = 0;
  for (const auto deadline = in_a_minute(); Clock::now() < deadline; read_some(20))
    if (::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_) return WIFSTOPPED(status);
  return false;
}

bool Screen::cooked() const {
  termios settings{};
  ::tcgetattr(slave_, &settings);
  return (settings.c_lflag & ICANON) != 0 && (settings.c_lflag & ECHO) != 0 &&
         (settings.c_oflag & OPOST) != 0;
}

bool Screen::becomes(bool cooked_mode) const {
  for (const auto deadline = in_a_minute(); Clock::now() < deadline;) {
    if (cooked() == cooked_mode) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace coop::tests
