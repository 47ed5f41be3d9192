// In which order the mounts of a home are made that programs can change while they are made: a kept one, by another sandbox.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace coop::run {

// A kept home, as indices of the plan's steps. Something is mounted in it; else nothing is special about it.
struct HomeOrder {
  std::size_t home = 0;
  std::vector<std::size_t> made{};   // directories, files and symlinks in the home itself
  std::vector<std::size_t> moved{};  // mounts right in it: what lies below them moves along
};
std::optional<HomeOrder> home_order(const Plan& plan);
bool has_kept_home(const Plan& plan);

// Mounts below a home that can be written, or have guarded or hidden paths in them. What runs inside can rename the directories on
// the way there, so the supervisor keeps descriptors of these instead of paths.
std::vector<Path> trees_below_homes(const Plan& plan);

// Of the mount that a step makes; null for other steps.
const Path* mounted_at(const Action& action);

}  // namespace coop::run
