// What this machine offers, as plain data. A literal in tests; otherwise filled by coop::probe().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coop/destination.h"
#include "coop/path.h"

namespace coop {

struct KernelVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

// A feature of the kernel or the machine, and the reason if it is missing.
struct Feature {
  bool available = false;
  std::string reason{};  // why not
  std::string detail{};  // of an available one: a version, a number
  Path program{};        // of an available one: what provides it
  std::string fix{};     // how to get it
  bool operator==(const Feature&) const = default;
};

enum class PathKind : std::uint8_t { missing, file, directory, symlink, socket, device, other };

// What a path of the host is. `canonical` has no symlink in it (empty when missing).
struct PathFact {
  PathKind kind = PathKind::missing;         // of the path itself, not of what a symlink leads to
  PathKind target_kind = PathKind::missing;  // of its target
  Path canonical{};
  std::string link{};       // a symlink's text
  std::uint64_t links = 1;  // hard links of its target
  bool operator==(const PathFact&) const = default;
};

// One line of /proc/self/mountinfo.
struct MountFact {
  std::string device{};  // "8:1"
  Path root{};           // which directory of that file system is mounted
  Path target{};
  std::string type{};
  std::string source{};
  bool read_only = false;
  bool operator==(const MountFact&) const = default;
};

// scope: v2, and systemd's user manager makes the group.
enum class CgroupKind : std::uint8_t { none, v1, v2, scope };

// Where a control group can be created, for each controller. On v2 all directories are the same.
struct CgroupFacts {
  CgroupKind kind = CgroupKind::none;
  std::map<std::string, Path> directories{};  // "memory" → "/sys/fs/cgroup/memory/user"
  Path manager{};  // scope: the socket of the user manager, or of the bus that leads to it
  Path unified{};  // a writable v2 directory (also on hybrid hosts); empty when there is none
  std::string reason{};
  bool operator==(const CgroupFacts&) const = default;
};

// How a fresh /proc can be mounted in a new PID namespace.
enum class ProcMount : std::uint8_t { refused, full, pid_subset };

// A path in the workspace that host programs obey: a git hook, an editor's tasks.
struct GuardedPath {
  Path path{};          // canonical on the host
  std::string guard{};  // its name in policies/guards.txt, ".git/hooks"
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born =
      0;  // when it was created, in nanoseconds; 0 where the file system does not say
  std::int64_t changed = 0;  // ctime in nanoseconds
  std::uint64_t links = 1;
  bool directory = false;
  // A .git or commondir file that leads to a git directory whose guards are checked anyway:
  // read-only if it exists, and no reason for quarantine if it appears.
  bool harmless = false;
  std::string link{};  // a symlink's text; empty for all else. It cannot be a mount point.
  Path through{};  // the guarded symlink that leads to this path, which has no guarded name itself
  std::vector<std::string> programs{};  // what its contents have git run, where they decide
  bool operator==(const GuardedPath&) const = default;
};

// A path that git's configuration names: a directory of hooks, an included file.
struct NamedPath {
  // As git will open it: absolute, with ".." and symlinks kept. A relative one (without "..")
  // applies at the top of every repository and in every git directory.
  Path path{};
  std::string guard{};  // ".git/hooks", ".git/config", or "~/.bashrc" of policies/home_guards.txt
  auto operator<=>(const NamedPath&) const = default;
};

// user.name and user.email of the user's git configuration; empty where they are not set.
struct GitAlias {
  std::string name{};
  std::string value{};
  bool operator==(const GitAlias&) const = default;
};

struct GitIdentity {
  std::string name{};
  std::string email{};
  std::vector<GitAlias> aliases{};  // of git's own commands
  bool operator==(const GitIdentity&) const = default;
};

struct GitDirectory {
  Path path{};
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born = 0;  // in nanoseconds; 0 where the file system does not say
  auto operator<=>(const GitDirectory&) const = default;
};

// What a repository keeps about a linked worktree, and the path of the checkout's .git file as it is written there.
struct LinkedWorktree {
  Path git{};
  Path checkout{};
  bool operator==(const LinkedWorktree&) const = default;
};

// A symlink that leads from outside of directories of packages (node_modules) into one, so that names which count in every
// directory count there too.
struct PackageLink {
  Path path{};  // canonical on the host
  std::string text{};
  Path place{};    // where it leads; the directory need not exist
  Path through{};  // the link behind which it is, where that makes it count
  bool operator==(const PackageLink&) const = default;
};

// The result of walking the workspace.
struct WorkspaceFacts {
  std::vector<GuardedPath> guarded{};  // sorted by path
  // Git directories outside the workspace that it belongs to (a linked worktree's or submodule's
  // repository), proven by a pointer back to this workspace; git needs to write there.
  std::vector<Path> outside_git{};
  std::vector<GitDirectory> git{};  // all that were found, those outside included; sorted
  // Those that an earlier sandbox made, and that are as it left them: not in `git`, nor what is in them in `guarded`.
  std::vector<GitDirectory> made_inside{};
  bool complete = true;            // false: something could not be read
  bool stopped = false;            // after a run: the walk ended early
  std::int64_t started = 0;        // when the walk began, in nanoseconds of the file systems' clock
  std::vector<NamedPath> named{};  // by git's configuration when the walk began; sorted
  std::vector<std::string> notes{};          // what should be guarded and is not
  std::vector<PackageLink> package_links{};  // sorted
  bool operator==(const WorkspaceFacts&) const = default;
};

struct HostFacts {
  KernelVersion kernel{};
  std::string kernel_release{};
  std::string architecture{};
  std::string node_name{};  // the host name
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user{};
  Path home{};
  Path account_home{};              // from /etc/passwd; $HOME may differ
  std::vector<Path> other_homes{};  // of other people, outside /home; from /etc/passwd
  Path working_directory{};
  std::string now{};       // "2026-11-16T04:00:00Z"
  Path state_directory{};  // coop's own; of it only a kept home is ever visible inside
  std::map<std::string, std::string> environment{};

  // Namespaces by name: user mount pid net ipc uts cgroup time.
  std::map<std::string, Feature> namespaces{};
  int landlock_abi = 0;
  Feature seccomp{};
  Feature seccomp_notify{};
  std::vector<std::string> seccomp_flags{};
  CgroupFacts cgroup{};
  ProcMount proc = ProcMount::full;
  Feature proc_refusal{};               // why it is not full, and the fix
  Feature hostname{.available = true};  // setting one, in a UTS namespace of the sandbox's own
  Feature overlay{};
  Feature fuse{};
  Feature id_ranges{};  // newuidmap, newgidmap and ranges for this user
  Feature pasta{};
  Feature slirp4netns{};
  // What all processes of this user share; 0: not known.
  std::uint64_t inotify_instances = 0;
  std::uint64_t inotify_watches = 0;
  bool settings_read_only = false;  // /proc/sys, as in a container
  bool lists_children = true;       // /proc/PID/task/TID/children exists
  bool ipv6 = true;                 // supported by this kernel
  std::vector<Prefix> networks{};   // of this machine's interfaces: 192.168.1.0/24
  std::string nested_in{};          // "docker", "podman", "coop", … or empty

  std::map<Path, PathFact> paths{};  // what was inspected; absent means missing
  std::vector<MountFact> mounts{};
  std::vector<Path> sockets{};  // listening sockets of the host, canonical
  WorkspaceFacts workspace{};
  std::vector<LinkedWorktree> worktrees{};
  // Git directories that root finds below another user's private directory. A sandbox of root's, without capabilities over
  // that user's files, cannot get there.
  std::vector<Path> locked_git{};
  GitIdentity git_identity{};

  bool has(std::string_view path) const { return fact(path).target_kind != PathKind::missing; }
  const PathFact& fact(std::string_view path) const;
  bool namespace_available(std::string_view name) const;

  bool operator==(const HostFacts&) const = default;
};

}  // namespace coop
