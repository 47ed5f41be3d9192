// PID 1 of the sandbox: starts the workload, reaps orphans, forwards signals, and exits (which
// kills every process inside) when the workload or the supervisor ends, or at the timeout.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>

#include "child/state.h"

namespace coop::child {

namespace {

// The exit of PID 1 makes the kernel kill every process of the PID namespace, daemons too.
[[noreturn]] void leave() noexcept {
  for (;;) raw::call(SYS_exit_group, 0);
}

struct Together {
  const Program& program;
  const State& state;
};

[[noreturn]] void enter_workload(const void* argument) noexcept {
  const auto* together = static_cast<const Together*>(argument);
  become_workload(together->program, together->state);
}

// The workload shares our memory until it calls execve (CLONE_VM): no page tables are copied. A
// cold one calls it at once and we are suspended meanwhile, as with vfork. A prepared one waits for
// its command first, on its own stack, while we run; `together` must outlive that.
long fork_workload(const Together& together) noexcept {
  return clone_borrowing(together.program.workload_stack, enter_workload, &together);
}

std::int64_t microseconds(const timeval& time) noexcept {
  return static_cast<std::int64_t>(time.tv_sec) * 1000000 + time.tv_usec;
}

void report_exit(int control, int status) noexcept {
  // Every process inside is our child or a descendant of one: ECHILD means that we are alone.
  // What has ended already is reaped first, but only so many: they may be made faster than that.
  long others = 1;
  for (int most = 1000; most > 0 && others > 0; --most)
    others = raw::call(SYS_wait4, -1, nullptr, WNOHANG | __WALL, nullptr);
  rusage usage{};
  raw::call(SYS_getrusage, RUSAGE_CHILDREN, &usage);
  send_report(control, Report{.event = Event::exited,
                              .status = status,
                              .user_microseconds = microseconds(usage.ru_utime),
                              .system_microseconds = microseconds(usage.ru_stime),
                              .peak_kilobytes = usage.ru_maxrss,
                              .alone = others == -ECHILD ? 1 : 0});
}

constexpr std::int64_t kForever = INT64_MAX;
constexpr std::int64_t kSecond = 1'000'000'000;

// Nanoseconds of CLOCK_MONOTONIC.
std::int64_t now() noexcept {
  timespec time{};
  raw::call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

struct Duty {
  int control = -1;
  long workload = -1;
  std::int64_t end = kForever;  // by now()
  // Report one stop at a time. A process inside could stop and continue the workload repeatedly: if
  // the supervisor is stopped too, the socket would fill up and we would block on it.
  bool stop_told = false;
};

// Nanoseconds that remain. The supervisor kills us at its timeout; if it cannot, because it is
// stopped (which the command can cause at a terminal), we enforce the timeout ourselves.
std::int64_t remaining(const Duty& duty) noexcept {
  if (duty.end == kForever) return kForever;
  const std::int64_t left = duty.end - now();
  if (left > 0) return left;
  send_report(duty.control, Report{.event = Event::timed_out});
  leave();
}

// True when the workload itself has exited.
bool reap(Duty& duty) noexcept {
  // Check the time here too: children that exit faster than we reap them would keep us in this
  // loop.
  while (remaining(duty) > 0) {
    int status = 0;
    const long pid = raw::call(SYS_wait4, -1, &status, WNOHANG | WUNTRACED | __WALL, nullptr);
    if (pid <= 0) return false;
    if (pid != duty.workload) continue;
    if (WIFSTOPPED(status)) {
      if (!duty.stop_told)
        send_report(duty.control, Report{.event = Event::stopped, .status = WSTOPSIG(status)});
      duty.stop_told = true;
      continue;
    }
    report_exit(duty.control, status);
    return true;
  }
  return false;
}

// False when the supervisor has exited.
bool obey(Duty& duty) noexcept {
  SignalRequest request;
  const long size =
      raw::call(SYS_recvfrom, duty.control, &request, sizeof request, 0, nullptr, nullptr);
  if (size <= 0) return false;
  if (size != sizeof request) return true;
  if (request.number == SIGCONT) duty.stop_told = false;
  switch (request.recipients) {
    case Recipients::workload: raw::call(SYS_kill, duty.workload, request.number); break;
    case Recipients::group: raw::call(SYS_kill, -duty.workload, request.number); break;
    case Recipients::everyone: raw::call(SYS_kill, -1, request.number); break;
  }
  return true;
}

}  // namespace

[[noreturn]] void become_init(const Program& program, State& state) noexcept {
  const std::uint64_t child_signal = std::uint64_t{1} << (SIGCHLD - 1);
  const long signals =
      raw::call(SYS_signalfd4, -1, &child_signal, sizeof child_signal, O_CLOEXEC | O_NONBLOCK);
  // /proc/1/cmdline would show coop's command line, with paths of the host and values of --env. The
  // kernel reads it from our memory, which is a copy, even if we are not dumpable.
  for (std::uint64_t index = 0; index < program.command_line_size; ++index)
    program.command_line[index] = 0;
  raw::call(SYS_prctl, PR_SET_NAME, "coop-init", 0, 0, 0);
  // Our memory is a copy of the supervisor's, with its environment and secrets: non-dumpable, it
  // cannot be read from inside, whatever the workload's uid. exec resets that for the workload.
  raw::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (program.die_with_parent) raw::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  Duty duty{.control = state.control};
  if (program.lifetime != kEndless) duty.end = now() + program.lifetime * (kSecond / 1000);
  const Together together{program, state};
  const long workload = signals < 0 ? signals : fork_workload(together);
  if (workload < 0) {
    send_report(state.control,
                Report{.event = Event::failed, .step = kForkStep, .error = error_of(workload)});
    leave();
  }
  duty.workload = workload;
  if (state.terminal >= 0) {
    raw::call(SYS_setpgid, workload, workload);
    raw::call(SYS_close, state.terminal);
  }
  // The caller's pipes must reach EOF when the workload exits, not when we do.
  for (const int fd : program.workload.stdio)
    if (fd >= 0) raw::call(SYS_close, fd);
  if (program.request >= 0) raw::call(SYS_close, program.request);
  if (program.request >= 0) send_report(state.control, Report{.event = Event::ready});
  if (!program.makes_sockets && state.network >= 0) raw::call(SYS_close, state.network);

  pollfd watched[3] = {{static_cast<int>(signals), POLLIN, 0},
                       {state.control, POLLIN, 0},
                       {program.makes_sockets ? state.network : -1, POLLIN, 0}};
  bool young = true;  // most commands exit before the cleanup pays off
  for (;;) {
    constexpr std::int64_t kGrace = kSecond / 100;
    const std::int64_t left = remaining(duty);
    const std::int64_t wait = young && left > kGrace ? kGrace : left;
    timespec time{.tv_sec = wait / kSecond, .tv_nsec = wait % kSecond};
    const long count =
        raw::call(SYS_ppoll, watched, 3, wait == kForever ? nullptr : &time, nullptr, 0);
    if (count == 0 && young) forget_supervisor();
    if (count == 0) young = false;
    if (count <= 0) continue;
    if ((watched[0].revents & POLLIN) != 0) {
      char information[128];  // one signalfd_siginfo, ignored
      while (raw::call(SYS_read, signals, information, sizeof information) > 0) {
      }
      if (reap(duty)) leave();
    }
    if (watched[1].revents != 0 && !obey(duty)) leave();
    // A closed socket stays readable.
    if (watched[2].revents != 0 && !serve_socket(state.network)) watched[2].fd = -1;
  }
}

}  // namespace coop::child
