// The remaining cleanup of a sandbox whose supervisor was killed, as data: the janitor does it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guards/quarantine.h"
#include "guards/versions.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "sys/tree/tree_watch.h"

namespace coop::run {

// A mount of the host in a tree that a sandbox can write, and which directory or file it shows.
struct MountBelow {
  MountFact mount{};
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const MountBelow&) const = default;
};

struct Cleanup {
  std::vector<Path> groups{};  // control groups to remove
  GuardPlan guards{};
  std::vector<WorkspaceFacts> before{};  // one for each of the guards' roots
  guards::Versions versions{};           // of guarded files
  Path quarantine{};
  Path indexes{};                 // of looks at trees; see sys/tree/tree_index.h
  Path record{};                  // of the run; see guards/records/run_record.h
  std::vector<Path> doubtful{};   // guarded paths that another run may have written; sorted
  std::vector<Path> abandoned{};  // of these, what no other run will judge; sorted
  std::vector<Path> gaps{};       // guarded paths whose mounts were lost for a while
  guards::GitUser git_user{};
  std::vector<MountBelow> mounts{};  // of the host, below the guards' roots
  // In served directories. Not for the janitor: what was written until the supervisor was killed is not known.
  guards::Touched touched{};
  bool operator==(const Cleanup&) const = default;
};

// What is open of a sandbox whose processes are dead.
struct Remains {
  guards::InsideView view{};     // if its mounts still exist
  std::span<const int> trees{};  // guards.roots as they were at the start: the first of them
  TreeWatch* watch = nullptr;    // of a pool
};

// All but the groups: takes away what a sandbox has made under guarded names, in its trees wherever they are now.
guards::QuarantineReport last_look(Cleanup cleanup, const Remains& remains);

// The mounts of the host below some trees.
std::vector<MountBelow> mounts_below(std::span<const Path> roots,
                                     const std::vector<MountFact>& mounts);

void carry_out(const Cleanup& cleanup, const Remains& remains);

std::string to_bytes(Cleanup cleanup);
// Nothing when `bytes` are not the output of to_bytes().
std::optional<Cleanup> cleanup_from(std::string_view bytes);

}  // namespace coop::run
