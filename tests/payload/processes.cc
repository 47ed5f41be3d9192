// Reaching and outliving processes.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "payload/payload.h"

namespace payload {
namespace {

pid_t process(const char* text) { return static_cast<pid_t>(number(text)); }

int signal_process(Arguments a) {
  return judge(::kill(process(a[0]), static_cast<int>(number(a[1]))));
}

// signal-group SIGNAL: a process group may have members outside the namespace
int signal_group(Arguments a) {
  const int wanted = static_cast<int>(number(a[0]));
  ::signal(wanted, SIG_IGN);
  return judge(::kill(0, wanted));
}

int nice_group(Arguments) { return judge(::setpriority(PRIO_PGRP, 0, 15)); }

int seize(Arguments a) { return judge(::ptrace(PTRACE_SEIZE, process(a[0]), nullptr, nullptr)); }

int trace_me(Arguments) { return judge(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }

int pidfd_open(Arguments a) { return judge(::syscall(SYS_pidfd_open, process(a[0]), 0)); }

int limit_process(Arguments a) {
  rlimit limit{};
  return judge(::prlimit(process(a[0]), RLIMIT_NOFILE, nullptr, &limit));
}

// daemon FILE MARKER leave|stay: a grandchild in its own session that ignores signals appends a
// byte to FILE every few milliseconds. MARKER makes it easy to find from outside.
int daemonise(Arguments a) {
  const pid_t child = ::fork();
  if (child < 0) return blocked(errno);
  if (child == 0) {
    ::setsid();
    for (const int ignored : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGQUIT})
      ::signal(ignored, SIG_IGN);
    if (::fork() != 0) ::_exit(0);
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const int file = ::open(a[0], O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (int turn = 0; turn < 1500; ++turn) {  // half a minute at most, whatever goes wrong
      (void)!::write(file, ".", 1);
      ::usleep(20000);
    }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  for (int turn = 0; turn < 200 && ::access(a[0], F_OK) != 0; ++turn) ::usleep(10000);
  escaped("daemon runs");
  if (a[2] == std::string_view("stay")) ::sleep(30);
  return 0;
}

// status FIELD VALUE: a line of /proc/self/status
int status(Arguments a) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(std::string(a[0]) + ":\t"))
      return line.ends_with(std::string("\t") + a[1]) ? escaped(line) : blocked(0);
  return cannot_try("no such field");
}

// identity: whether executing this file gave an id or a capability that the caller lacked
int identity(Arguments) {
  uid_t real = 0, effective = 0, saved = 0;
  ::getresuid(&real, &effective, &saved);
  if (real != effective) return escaped("other user id");
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("CapEff:") &&
        line.find_first_of("123456789abcdef", 8) != std::string::npos)
      return escaped(line);
  return blocked(EPERM);
}

// become UID PROGRAM ARGUMENTS: as another user, so that a file's capabilities show
int become(Arguments a) {
  const auto user = static_cast<uid_t>(number(a[0]));
  if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0)
    return blocked(errno);
  ::execv(a[1], const_cast<char**>(a.data() + 1));
  return blocked(errno);
}

// type TEXT REQUEST: pushes a byte into the terminal's input queue
int type(Arguments a) { return judge(::syscall(SYS_ioctl, 0, number(a[1]), a[0])); }

constexpr std::array kAttacks{
    Attack{"signal", 2, signal_process},   Attack{"signal-group", 1, signal_group},
    Attack{"nice-group", 0, nice_group},   Attack{"seize", 1, seize},
    Attack{"trace-me", 0, trace_me},       Attack{"pidfd-open", 1, pidfd_open},
    Attack{"limits-of", 1, limit_process}, Attack{"daemon", 3, daemonise},
    Attack{"status", 2, status},           Attack{"identity", 0, identity},
    Attack{"become", 2, become},           Attack{"type", 2, type},
};

}  // namespace

std::span<const Attack> process_attacks() { return kAttacks; }

}  // namespace payload
