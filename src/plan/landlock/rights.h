// Landlock rights as data: which ABI introduced which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace coop::landlock {

struct Right {
  std::uint64_t bit;
  int since_abi;
  std::string_view name;
};

inline constexpr int kNewestAbi = 7;
// Under ABI 1 every rename or link between directories fails, which breaks git and compilers.
inline constexpr int kOldestUsefulAbi = 2;

// Every file system right a kernel with this ABI can handle.
std::uint64_t handled(int abi);
std::uint64_t scopes(int abi);

std::uint64_t read_rights(int abi);    // read, list, execute
std::uint64_t write_rights(int abi);   // all except making device nodes
std::uint64_t device_rights(int abi);  // use existing files, ioctl included

std::string names_of(std::uint64_t rights);

// Repeats what the plan's mounts allow. `steps` are the mount steps.
RestrictLandlock rules_for(int abi, const std::vector<Step>& steps);

}  // namespace coop::landlock
