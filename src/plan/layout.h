// Where everything goes: the entries of a view before they become ordered mount steps.
#pragma once

#include <optional>
#include <set>
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
    cover,
    directory
  };
  Kind kind = Kind::bind;
  Path target{};
  Path source{};                         // bind, overlay: canonical on the host
  PathKind shape = PathKind::directory;  // what the mount point has to be
  MountFlags flags{};
  std::string text{};  // symlink: where to; file, cover: its contents
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

// The entry that decides what is at `target`: the same, but one for `target` itself counts too.
const Entry* deciding_entry(const std::vector<Entry>& entries, const Path& target);

bool is_writable_bind(const Entry& entry);

// The other names the host's own bind mounts give the same directory, from the mount table.
std::vector<Path> mount_aliases(const Path& path, const std::vector<MountFact>& mounts);

// All names of what `fact` is about, as far as they still lead there.
std::set<Path> names_of(const PathFact& fact, const HostFacts& host);

// Whether `path` lies in `tree`, under any name the host's bind mounts give it.
bool lies_in(const Path& path, const Path& tree, const HostFacts& host);

// Checks of single rules: what names nothing, everything, or a symlink that a command could replace.
std::unexpected<Error> missing_path(const PathRule& rule);
Result<void> check_root(const PathRule& rule, const PathFact& fact);
Result<void> check_link(const PathRule& rule, const PathFact& fact, const Policy& policy,
                        const HostFacts& host, std::vector<std::string>& notes);

// What the organisation decides: nothing shows or covers what a final rule hides, neither a grant nor
// the workspace.
Result<void> check_final(const Policy& policy, const HostFacts& host);
// And nothing outside its bounds is granted. Of the workspace, which is not bounded, no rule shows more.
Result<void> check_bounds(const PathRule& rule, const PathFact& fact, const Policy& policy,
                          const HostFacts& host);

// Entries of each part of a view. They only add.
void add_base(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
void add_devices(std::vector<Entry>& entries, const HostFacts& host);
Result<void> add_proc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                      std::vector<std::string>& notes);
Result<void> add_workspace(std::vector<Entry>& entries, const Policy& policy,
                           const HostFacts& host);
Result<void> add_rules(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                       std::vector<std::string>& notes);
// After every grant is known: what is protected is read-only at each place where it would be writable.
Result<void> add_protected(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
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
