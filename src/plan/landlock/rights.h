// Landlock rights as data: which ABI introduced which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace coop::landlock {

// Under ABI 1 every rename or link between directories fails, which breaks git and compilers.
inline constexpr int kOldestUsefulAbi = 2;

std::string names_of(std::uint64_t rights);

// Repeats what the plan's mounts allow. `steps` are the mount steps.
RestrictLandlock rules_for(int abi, const std::vector<Step>& steps);

}  // namespace coop::landlock
