// Everything except mounts: identity, limits, capabilities, Landlock, seccomp, and the checks
// afterwards that they are in force.
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "abi/landlock.h"
#include "child/sandbox/operations.h"
#include "child/state.h"

namespace coop::child {

// Plain open: /proc/self is itself a symlink. The paths are constants of ours, under /proc.
int write_file(const char* path, const char* text) noexcept {
  const ScopedFd file(raw::call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0));
  if (file.failed()) return file.error();
  return attempt(SYS_write, file.get(), text, length_of(text));
}

int limit_resource(int resource, std::uint64_t most) noexcept {
  rlimit64 current{};
  if (const int error = attempt(SYS_prlimit64, 0, resource, nullptr, &current)) return error;
  // Never above the inherited hard limit: raising it needs a privilege.
  const std::uint64_t value = most < current.rlim_max ? most : current.rlim_max;
  const rlimit64 wanted{value, value};
  return attempt(SYS_prlimit64, 0, resource, &wanted, nullptr);
}

namespace operation {

int raise_loopback(State&, const Instruction&) noexcept {
  const ScopedFd socket(raw::call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.failed()) return socket.error();
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return attempt(SYS_ioctl, socket.get(), SIOCSIFFLAGS, &request);
}

int limit(State&, const Instruction& instruction) noexcept {
  const auto resource = static_cast<int>(instruction.first);
  if (instruction.third == 0) return limit_resource(resource, instruction.second);
  rlimit64 current{};
  if (const int error = attempt(SYS_prlimit64, 0, resource, nullptr, &current)) return error;
  if (instruction.second < current.rlim_max) current.rlim_cur = instruction.second;
  return attempt(SYS_prlimit64, 0, resource, &current, nullptr);
}

int limit_part(State&, const Instruction& instruction) noexcept {
  const auto resource = static_cast<int>(instruction.first);
  rlimit64 current{};
  if (const int error = attempt(SYS_prlimit64, 0, resource, nullptr, &current)) return error;
  const std::uint64_t part = current.rlim_cur / instruction.second;
  return limit_resource(resource, part);
}

// The pty belongs to the sandbox's own devpts, so ttyname() works inside, and the caller's terminal
// is not reachable: TIOCSTI could only inject input into our relay.
int open_terminal(State& state, const Instruction& instruction) noexcept {
  const ScopedFd master(
      raw::call(SYS_openat, AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0));
  if (master.failed()) return master.error();
  int locked = 0;
  if (const int error = attempt(SYS_ioctl, master.get(), TIOCSPTLCK, &locked)) return error;
  const winsize size{static_cast<unsigned short>(instruction.first),
                     static_cast<unsigned short>(instruction.second), 0, 0};
  raw::call(SYS_ioctl, master.get(), TIOCSWINSZ, &size);
  const ScopedFd slave(
      raw::call(SYS_ioctl, master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (slave.failed()) return slave.error();
  // Move it above 0, 1 and 2, which are free here and will be overwritten.
  const long terminal = raw::call(SYS_fcntl, slave.get(), F_DUPFD_CLOEXEC, 3);
  if (terminal < 0) return error_of(terminal);
  state.terminal = static_cast<int>(terminal);
  if (const int error = attempt(SYS_ioctl, terminal, TIOCSCTTY, 0)) return error;
  send_report(state.control, Report{.event = Event::terminal}, static_cast<int>(master.get()));
  return 0;
}

// While the supervisor has it the mounts stay, also when every process inside is dead: then it looks which of them the
// host has ended by replacing a guarded file. In the host's /proc, because the sandbox may have none.
int pass_mounts(State& state, const Instruction&) noexcept {
  const ScopedFd mounts(
      raw::call(SYS_openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC, 0));
  if (!mounts.failed())
    send_report(state.control, Report{.event = Event::mounts}, static_cast<int>(mounts.get()));
  return 0;
}

// For the supervisor's file tools, and its look at guarded files: the sandbox's own mounts decide what is below it.
int pass_root(State& state, const Instruction&) noexcept {
  const ScopedFd root(raw::call(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (root.failed()) return root.error();
  send_report(state.control, Report{.event = Event::root}, static_cast<int>(root.get()));
  return 0;
}

int drop_capabilities(State&, const Instruction& instruction) noexcept {
  for (std::uint64_t capability = 0; capability <= instruction.first; ++capability) {
    const long result = raw::call(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
    if (result == -EINVAL && capability > 0) break;  // the kernel has no further capability
    if (result < 0) return error_of(result);
  }
  if (const int error = attempt(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    return error;
  // Locked, so that becoming uid 0 inside regains no capability.
  constexpr long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                         SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                         SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (const int error = attempt(SYS_prctl, PR_SET_SECUREBITS, kBits, 0, 0, 0)) return error;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return attempt(SYS_capset, &header, none);
}

}  // namespace operation

namespace {

// With a signal that its caller handles a waiting call would be cancelled and made again; the second flag (5.19) lets
// only deadly ones through while the supervisor is at work.
long install_with_listener(const sock_fprog& program) noexcept {
  constexpr unsigned long kKillableOnly = 1UL << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
  const long listener = raw::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER | kKillableOnly, &program);
  if (listener != -EINVAL) return listener;
  return raw::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                   &program);
}

}  // namespace

namespace operation {

int landlock_create(State& state, const Instruction& instruction) noexcept {
  const abi::LandlockRulesetAttr attributes{instruction.first, 0, instruction.second};
  const long ruleset = raw::call(SYS_landlock_create_ruleset, &attributes, instruction.third, 0);
  state.ruleset = static_cast<int>(ruleset);
  return error_of(ruleset);
}

int landlock_allow(State& state, const Instruction& instruction) noexcept {
  const ScopedFd place(raw::call(SYS_openat, AT_FDCWD, instruction.path, O_PATH | O_CLOEXEC, 0));
  if (place.failed()) return place.error();
  const landlock_path_beneath_attr rule{instruction.first, static_cast<std::int32_t>(place.get())};
  return attempt(SYS_landlock_add_rule, state.ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int landlock_restrict(State& state, const Instruction&) noexcept {
  const long result = raw::call(SYS_landlock_restrict_self, state.ruleset, 0);
  raw::call(SYS_close, state.ruleset);
  return error_of(result);
}

int seccomp(State& state, const Instruction& instruction) noexcept {
  const sock_fprog program{static_cast<unsigned short>(instruction.first),
                           static_cast<sock_filter*>(const_cast<void*>(instruction.data))};
  if (instruction.second == 1 && state.calls >= 0) {
    const ScopedFd socket(std::exchange(state.calls, -1));
    const ScopedFd listener(install_with_listener(program));
    if (!listener.failed()) {
      constexpr char kWord = 'l';
      send_with_descriptor(static_cast<int>(socket.get()), &kWord, sizeof kWord,
                           static_cast<int>(listener.get()), MSG_NOSIGNAL);
      return 0;
    }
  }
  // A container runtime's own listener allows no second one (EBUSY), and a filter around us may refuse it. Without one the
  // calls fail with ENOSYS.
  return attempt(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int verify_capabilities(State&, const Instruction&) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  if (const int error = attempt(SYS_capget, &header, held)) return error;
  for (const auto& set : held)
    if ((set.effective | set.permitted | set.inheritable) != 0) return EPERM;
  return 0;
}

// A read-only "/" fails with EROFS; anything else means the root was not sealed.
int verify_root(State&, const Instruction&) noexcept {
  const long result = raw::call(SYS_mkdirat, AT_FDCWD, "/.coop-verify", 0700);
  if (result == -EROFS) return 0;
  return result < 0 ? error_of(result) : EPERM;
}

int await_parent(State& state, const Instruction&) noexcept {
  char word;
  const long size = raw::call(SYS_recvfrom, state.control, &word, 1, 0, nullptr, nullptr);
  return size == 1 ? 0 : EPERM;
}

}  // namespace operation

}  // namespace coop::child
