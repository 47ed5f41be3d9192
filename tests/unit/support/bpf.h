// Runs a system call filter without a kernel, on a made-up call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace coop::testing {

struct Evaluation {
  std::uint32_t action = 0;      // SECCOMP_RET_* with its data
  std::size_t instructions = 0;  // how many ran
};

// Nothing where the kernel would refuse the program: an unknown instruction, a load outside of the
// call or off its 32-bit grid, a jump or a fall over the end.
std::optional<Evaluation> evaluate(std::span<const sock_filter> program, const seccomp_data& call);

}  // namespace coop::testing
