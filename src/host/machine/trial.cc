#include "host/machine/trial.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::host {
namespace {

using child::TrialOrder;
using child::TrialRecord;

void await(pid_t child) {
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

// Read after the child has exited. Waiting for EOF instead could block for ever: a child that
// another thread forks meanwhile holds the write end too.
void read_records(int fd, TrialReport& report) {
  TrialRecord record{};
  while (::read(fd, &record, sizeof record) == static_cast<ssize_t>(sizeof record))
    report.errors[static_cast<std::size_t>(record.step)] = record.error;
}

int error_of(long pid) { return pid < 0 ? static_cast<int>(-pid) : 0; }

}  // namespace

TrialReport attempt(TrialWork work, std::uint64_t clone_flags) {
  TrialReport report;
  int& clone_error = report.errors[static_cast<std::size_t>(TrialStep::clone)];
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0) {
    clone_error = errno;
    return report;
  }
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  TrialOrder order{.work = work, .report = write_end.get()};
  std::snprintf(order.uid_map, sizeof order.uid_map, "0 %u 1", ::geteuid());
  std::snprintf(order.gid_map, sizeof order.gid_map, "0 %u 1", ::getegid());

  const long child = child::start_trial(clone_flags, order);
  clone_error = error_of(child);
  if (child < 0) return report;
  await(static_cast<pid_t>(child));
  read_records(read_end.get(), report);
  return report;
}

std::vector<int> attempt_clones(std::span<const std::uint64_t> flag_sets) {
  std::vector<int> errors;
  std::vector<pid_t> children;
  for (const std::uint64_t flags : flag_sets) {
    const long child = child::start_trial(flags, TrialOrder{});
    errors.push_back(error_of(child));
    if (child > 0) children.push_back(static_cast<pid_t>(child));
  }
  // Only now: removing a namespace takes milliseconds, and this way they overlap.
  for (const pid_t child : children) await(child);
  return errors;
}

std::string trial_error_text(int error) {
  if (error == kNotReported) return "the attempt was killed or could not be made";
  return errno_text(error);
}

}  // namespace coop::host
