// What is left to do for a sandbox whose supervisor was killed, as data: another process does it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"
#include "plan/plan.h"

namespace coop::run {

struct Cleanup {
  std::vector<Path> groups{};  // control groups to remove
  GuardPlan guards{};
  std::vector<WorkspaceFacts> before{};  // one for each of the guards' roots
  Path quarantine{};
  bool operator==(const Cleanup&) const = default;
};

// Everything inside must be dead.
void carry_out(const Cleanup& cleanup);

std::string to_bytes(Cleanup cleanup);
// Nothing when `bytes` is not what to_bytes() made.
std::optional<Cleanup> cleanup_from(std::string_view bytes);

}  // namespace coop::run
