#include "host/trial.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/result.h"
#include "host/trial_child.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

// Like fork, but silent: no exit signal, so a caller that waits for "any child" or ignores SIGCHLD
// never meets ours.
long clone_process(std::uint64_t flags) {
  if (flags == 0) return ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  clone_args arguments{};
  arguments.flags = flags;
  return ::syscall(SYS_clone3, &arguments, sizeof arguments);
}

template <typename Work>
long start_child(std::uint64_t flags, Work work) {
  // The child must not run the caller's signal handlers on its copy of the caller's memory.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long child = clone_process(flags);
  if (child == 0) work();
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

void await(pid_t child) {
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

// Read only when the child is gone. Waiting for the end of the pipe instead could wait for ever: a
// child that another thread forks meanwhile holds the writing end too.
void read_records(int fd, TrialReport& report) {
  TrialRecord record{};
  while (::read(fd, &record, sizeof record) == static_cast<ssize_t>(sizeof record))
    report.errors[static_cast<std::size_t>(record.step)] = record.error;
}

template <typename Work>
TrialReport run_trial(std::uint64_t flags, TrialOrder& order, Work work) {
  TrialReport report;
  int& clone_error = report.errors[static_cast<std::size_t>(TrialStep::clone)];
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0) {
    clone_error = errno;
    return report;
  }
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  order.report_fd = write_end.get();

  const long child = start_child(flags, [&] { work(order); });
  clone_error = child < 0 ? errno : 0;
  if (child < 0) return report;
  await(static_cast<pid_t>(child));
  read_records(read_end.get(), report);
  return report;
}

}  // namespace

TrialReport attempt_namespaces(std::uint64_t clone_flags, TrialWork work) {
  TrialOrder order{.work = work};
  std::snprintf(order.uid_map.data(), order.uid_map.size(), "0 %u 1", ::geteuid());
  std::snprintf(order.gid_map.data(), order.gid_map.size(), "0 %u 1", ::getegid());
  return run_trial(clone_flags, order, run_namespace_trial);
}

std::vector<int> attempt_clones(std::span<const std::uint64_t> flag_sets) {
  std::vector<int> errors;
  std::vector<pid_t> children;
  for (const std::uint64_t flags : flag_sets) {
    const long child = start_child(flags, [] { ::_exit(0); });
    errors.push_back(child < 0 ? errno : 0);
    if (child > 0) children.push_back(static_cast<pid_t>(child));
  }
  // Only now: taking a namespace down takes milliseconds, and this way they are spent side by side.
  for (const pid_t child : children) await(child);
  return errors;
}

TrialReport attempt_filters() {
  TrialOrder order;
  return run_trial(0, order, run_filter_trial);
}

std::string trial_error_text(int error) {
  if (error == kNotReported) return "the attempt was killed or could not be made";
  return errno_text(error);
}

}  // namespace coop::host
