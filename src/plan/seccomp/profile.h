// The system call filters coop ships, compiled from policies/syscalls at build time.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace coop::seccomp {

// One rule of a profile. A call with conditions has several: the first whose condition holds
// decides, and the last has no condition.
struct SyscallReason {
  std::string_view name;  // "ioctl"
  std::string_view
      verdict;              // "allow", "eperm", "enosys", "eafnosupport", "eprotonosupport", "kill"
  std::string_view reason;  // "types into the terminal: …"
  std::string_view condition;  // "arg1 == TIOCSTI", or empty
};

struct Profile {
  std::string_view name;
  std::span<const sock_filter> program;
  std::span<const SyscallReason> reasons;
};

enum class Machine : std::uint8_t { x86_64, aarch64 };

// For the architecture this was built for. "default" lets processes of the sandbox debug each
// other, "no-debug" does not; "mptcp" and "mptcp-no-debug" also allow Multipath TCP; nullptr for any other name. The profile has static storage duration.
const Profile* find(std::string_view name);

const Profile* find(std::string_view name, Machine machine);

}  // namespace coop::seccomp
