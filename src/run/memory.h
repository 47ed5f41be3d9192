// The memory of a sandbox without a control group, added up from outside.
#pragma once

#include <cstdint>
#include <string_view>

namespace coop::run {

// What processes have for themselves, in bytes: anonymous and shared memory, and what of it is in swap. Not pages of files,
// which the kernel can drop.
struct ProcessMemory {
  std::uint64_t most = 0;   // from "status": pages that processes share count for each
  std::uint64_t share = 0;  // from "smaps_rollup": divided among those that share them
};
// The text of /proc/PID/status or /proc/PID/smaps_rollup.
ProcessMemory parse_memory(std::string_view text);

// Of the process `init` and all its descendants. Exact only when the first, cheap sum is beyond `limit`.
std::uint64_t memory_of_sandbox(int init, std::uint64_t limit);

}  // namespace coop::run
