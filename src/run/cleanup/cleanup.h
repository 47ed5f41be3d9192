// The remaining cleanup of a sandbox whose supervisor was killed, as data: the janitor does it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/versions.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace coop::run {

struct Cleanup {
  std::vector<Path> groups{};  // control groups to remove
  GuardPlan guards{};
  std::vector<WorkspaceFacts> before{};  // one for each of the guards' roots
  guards::Versions versions{};           // of guarded files
  Path quarantine{};
  bool operator==(const Cleanup&) const = default;
};

// Every process inside must be dead. `view`: its root, if its mounts still exist.
void carry_out(const Cleanup& cleanup, int view);

std::string to_bytes(Cleanup cleanup);
// Nothing when `bytes` are not the output of to_bytes().
std::optional<Cleanup> cleanup_from(std::string_view bytes);

}  // namespace coop::run
