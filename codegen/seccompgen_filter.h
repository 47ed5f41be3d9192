// Compiles rules to BPF, for one architecture and one profile.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "seccompgen_rules.h"

namespace coop::seccompgen {

struct Machine {
  std::string_view name;  // as in C++ identifiers and `uname -m`
  std::uint32_t token;    // SCMP_ARCH_*, which is AUDIT_ARCH_* too
};

enum class Choice : std::uint8_t { allowed, denied };

// What differs between the profiles.
struct Choices {
  Choice debugging;
  Choice mptcp;
};

// The verdict of a rule in one profile: `debug` becomes `allow` or `eperm`, `mptcp` becomes `allow` or `eprotonosupport`.
Verdict verdict_in(const Choices& choices, Verdict written);

// The calls that this architecture has, in the given order. Fails on an unknown name.
Result<std::vector<Syscall>> present_on(const Machine& machine,
                                        const std::vector<Syscall>& syscalls);

Result<std::vector<sock_filter>> compile(const Machine& machine, const Choices& choices,
                                         const std::vector<Syscall>& present);

}  // namespace coop::seccompgen
