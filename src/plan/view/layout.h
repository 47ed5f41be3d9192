// The entries of a view, before they become ordered mount steps.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

// What wins among entries for the same target, in rising order.
enum class Rank : std::uint8_t {
  base,
  workspace,
  pin,
  protection,
  server_socket,  // masks a socket that a server of the host listens on
  granted_socket,
  rule,
  guard,
  final_rule,
};

// One entry at one path inside.
struct Entry {
  enum class Kind : std::uint8_t {
    bind,
    tmpfs,
    hide,
    overlay,
    remount,
    proc,
    devpts,
    mqueue,
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
  Through through = Through::mount;  // bind
  std::string text{};                // symlink: where to; file, cover: its contents
  std::uint64_t size = 0;
  std::uint64_t inodes = 0;
  std::uint32_t mode = 0755;
  Missing if_missing = Missing::fail;  // hide: when it has disappeared since
  TmpfsLife life = TmpfsLife::sandbox;
  bool kept = false;         // bind: a home of coop's own, in which mount points may be made
  bool sealed = false;       // tmpfs: read-only once everything in it is made
  Rank rank = Rank::base;    // among entries for the same target the highest wins,
  std::size_t position = 0;  // and of two rules the later one
  Origin origin{};
  std::string why{};

  auto strength() const { return std::pair(rank, position); }
};

// Where a path of the host is visible inside, through every bind of `entries` (and the host root).
std::vector<Path> places_of(const Path& host_path, const std::vector<Entry>& entries, View view);

// The deepest entry that contains `target`; null when that is the root itself.
const Entry* enclosing_entry(const std::vector<Entry>& entries, const Path& target);

// The entry that determines what is at `target`: the same, but an entry for `target` itself counts
// too.
const Entry* deciding_entry(const std::vector<Entry>& entries, const Path& target);

bool is_writable_bind(const Entry& entry);

// Makes every directory between `top` and `place` a mount point, which cannot be renamed or removed. Without them
// `mv .git .g2` would move what is mounted at .git/hooks away and free its name.
void pin_parents(std::vector<Entry>& entries, const Path& place, const Path& top,
                 const Origin& origin, const char* why);

// Makes `place` read-only in the writable bind that it lies in.
void make_read_only(std::vector<Entry>& entries, const Path& place, Rank rank, const Origin& origin,
                    std::string why);

// Other paths of the same directory through bind mounts of the host, from the mount table.
std::vector<Path> mount_aliases(const Path& path, const std::vector<MountFact>& mounts);

// Where mounts of the host show only a part of the directory `path`, outside of it.
std::vector<Path> mounted_parts(const Path& path, const std::vector<MountFact>& mounts);

// Those of them that are there.
std::vector<Path> parts_of(const PathFact& fact, const HostFacts& host);

// All paths of the object of `fact` that still lead there.
std::set<Path> names_of(const PathFact& fact, const HostFacts& host);

// Whether `path` is in `tree`, under any path that the host's bind mounts give it.
bool lies_in(const Path& path, const Path& tree, const HostFacts& host);

// coop's state and configuration of this user, as written: with the variables that move them, and without.
std::set<Path> own_directories(const HostFacts& host);

// Checks of single rules: missing paths, "/", and symlinks that a command could replace.
std::unexpected<Error> missing_path(const PathRule& rule);
Result<void> check_root(const PathRule& rule, const PathFact& fact);
Result<void> check_link(const PathRule& rule, const PathFact& fact, const Policy& policy,
                        const HostFacts& host, std::vector<std::string>& notes);

// The organisation's final rules: neither a grant nor the workspace may show or cover what one
// hides; and the workspace must be where it allows one.
Result<void> check_final(const Policy& policy, const HostFacts& host);
// And nothing outside its bounds may be granted. No rule shows more of the workspace.
Result<void> check_bounds(const PathRule& rule, const PathFact& fact, const Policy& policy,
                          const HostFacts& host);

// Paths that the base of a view may show: add_base(), add_devices() and add_proc() look at their facts.
std::vector<Path> base_paths(View view, const HostFacts& host);

// Entries of each part of a view. They only add.
void add_base(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
void add_devices(std::vector<Entry>& entries, const HostFacts& host);
// /etc of the minimal view: what policies/etc.txt lists, and files of coop's own.
void add_etc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
// The host view, unless it shows the whole home: the same accounts as in the minimal one.
void add_host_accounts(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
// Paths that add_etc() looks at, on a host with these names in /etc (sorted).
std::vector<Path> etc_paths(std::span<const std::string> names);
// A configuration of git with user.name and user.email only; none where neither is known.
void add_git_identity(std::vector<Entry>& entries, const Path& file, const GitIdentity& identity,
                      const Origin& origin, Access access = Access::read_only);
Result<void> add_proc(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                      std::vector<std::string>& notes);
Result<void> add_workspace(std::vector<Entry>& entries, const Policy& policy,
                           const HostFacts& host);
// HOME, where it is not the workspace. In the host view own homes are replaced or shown, those of other people are hidden.
void add_home(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
              std::vector<std::string>& notes);
// Whether HOME gets a .profile, for login shells: in the host view /etc/profile sets PATH to that of the system, without the toolchains
// of the home. Agents run their commands with `bash -l`.
bool has_profile(const Policy& policy);
// What cannot be: a kept home together with the host's own.
Result<void> check_home(const Policy& policy, const HostFacts& host);
// Paths that add_home() looks at, and their other names, which are known only after the first facts.
std::vector<Path> home_paths(const Policy& policy, const HostFacts& host);
// What a kept home may have where something of the host is to be shown.
std::vector<Path> kept_home_parts(const Policy& policy, const HostFacts& host);
std::vector<Path> home_aliases(const Policy& policy, const HostFacts& host);
// What caches need besides their rules; an error where a cache would have no effect.
Result<void> add_caches(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
// The variables that lead toolchains to them.
std::map<std::string, std::string> cache_variables(const Policy& policy, const HostFacts& host);
Result<void> add_rules(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                       std::vector<std::string>& notes);
// After all grants are known: makes protected paths read-only wherever they would be writable.
Result<void> add_protected(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                           std::vector<std::string>& notes);
// Last: pins the parents of every rule's path inside a writable tree. Otherwise a command could
// move them, and the next run would not find the rule's path.
void add_pins(std::vector<Entry>& entries);
void add_sockets(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host);
Result<GuardPlan> add_guards(std::vector<Entry>& entries, const Policy& policy,
                             const HostFacts& host, std::vector<std::string>& notes);

// Whether a rule hides this path or a directory above it: the base of a view then leaves it out.
bool is_hidden(const Policy& policy, const PathFact& fact, const Path& path);

// How many files each private file system may have: the default grows with its size.
std::uint64_t inodes_for(const Limits& limits);

// What in a kept home is in the way of a mount point of this shape at `target`.
std::optional<Path> obstacle_in(const Entry& home, const Path& target, PathKind shape,
                                const HostFacts& host);

// Orders entries (parents first, so that deeper ones win), creates the mount points they need, and
// turns them into steps.
Result<std::vector<Step>> lay_out(const std::vector<Entry>& entries, View view,
                                  const HostFacts& host);

// Where the workspace is inside, and what HOME is.
Path workspace_target(const Policy& policy);
// The directory of a kept home, on the host.
Path kept_home(const HostFacts& host, std::string_view name);
Path home_target(const Policy& policy, const HostFacts& host);

}  // namespace coop::plan
