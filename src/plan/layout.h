// Where everything goes: the entries of a view before they become ordered mount steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

// One thing at one place inside.
struct Entry {
  enum class Kind : std::uint8_t {
    bind,
    tmpfs,
    hide,
    overlay,
    remount,
    proc,
    devpts,
    symlink,
    file,
    directory
  };
  Kind kind = Kind::bind;
  Path target{};
  Path source{};                         // bind, overlay: canonical on the host
  PathKind shape = PathKind::directory;  // what the mount point has to be
  MountFlags flags{};
  std::string text{};  // symlink: where to; file: its contents
  std::uint64_t size = 0;
  std::uint64_t inodes = 0;
  std::uint32_t mode = 0755;
  Missing if_missing = Missing::fail;  // hide: when it has gone since we looked
  bool sealed = false;                 // tmpfs: read-only once everything in it is made
  int order = 0;                       // among entries for the same target the highest wins
  std::string origin{};
  std::string why{};
};

// Where a path of the host shows up inside, through every bind of `entries` (and the host root).
std::vector<Path> places_of(const Path& host_path, const std::vector<Entry>& entries, View view);

// The deepest entry that `target` lies in; null when that is the root itself.
const Entry* enclosing_entry(const std::vector<Entry>& entries, const Path& target);

// The other names the host's own bind mounts give the same directory, from the mount table.
std::vector<Path> mount_aliases(const Path& path, const std::vector<MountFact>& mounts);

// Entries of each part of a view. They only add.
void add_base(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
void add_devices(std::vector<Entry>& entries, const HostFacts& host);
Result<void> add_proc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                      std::vector<std::string>& notes);
Result<void> add_workspace(std::vector<Entry>& entries, const Policy& policy,
                           const HostFacts& host);
Result<void> add_rules(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                       std::vector<std::string>& notes);
// Last of all: whatever a rule covers inside a writable tree keeps its ancestors in place, or a
// command could move them, and the next run would find nothing under the rule's name.
void add_pins(std::vector<Entry>& entries);
void add_sockets(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
Result<GuardPlan> add_guards(std::vector<Entry>& entries, const Policy& policy,
                             const HostFacts& host, std::vector<std::string>& notes);

// Orders entries (shallow first, so that deeper ones win), makes the mount points they need, and
// turns them into steps.
Result<std::vector<Step>> lay_out(const std::vector<Entry>& entries, View view,
                                  const HostFacts& host);

// Where the workspace is inside.
Path workspace_target(const Policy& policy);

}  // namespace coop::plan
