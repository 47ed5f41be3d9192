// What will be done, in order. Pure data: printed by `coop plan`, compared with ==, kept as golden
// files. Every step has its reason and the rule it comes from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/path.h"
#include "host/facts.h"
#include "policy/policy.h"

namespace coop {

// Flags of a mount. nosuid and nodev are the default.
struct MountFlags {
  Access access = Access::read_only;
  bool exec = true;
  bool devices = false;
  bool operator==(const MountFlags&) const = default;
};

// --- Steps of a plan -------------------------------------------------------------------------

struct NoDetails {
  bool operator==(const NoDetails&) const = default;
};
struct MapIds {  // one id of the host becomes one id inside
  std::uint32_t host_uid = 0, host_gid = 0, inside_uid = 0, inside_gid = 0;
  bool operator==(const MapIds&) const = default;
};
struct OffsetClocks {
  std::int64_t seconds = 0;
  bool operator==(const OffsetClocks&) const = default;
};
struct RaiseLoopback : NoDetails {};
struct KernelSetting {  // of the sandbox's own user or network namespace
  Path file;
  std::uint64_t value = 0;
  Missing if_missing = Missing::fail;  // when this kernel lacks it there
  bool operator==(const KernelSetting&) const = default;
};
// --- The network of the sandbox. Addresses are texts, as inet_ntop() writes them.

// Assigns these addresses to the sandbox, with a local default route: no packet can leave.
struct AssignAddresses {
  std::vector<std::string> own;
  bool everything = false;  // all other addresses too
  bool operator==(const AssignAddresses&) const = default;
};
struct DatagramRule {  // to a network and a port: led to a listener of ours
  Destination destination;
  std::uint16_t listener = 0;
  bool operator==(const DatagramRule&) const = default;
};
// TCP connections and DNS queries to any address are redirected to our listeners at `own`.
struct RedirectTraffic {
  std::vector<std::string> own;
  std::uint16_t connections = 0;
  std::vector<DatagramRule> datagrams{};
  bool operator==(const RedirectTraffic&) const = default;
};
// Refuses private, local and metadata addresses, and all networks of this machine, except those
// listed.
struct RefuseNeighbours {
  std::vector<Prefix> networks;  // this machine's
  std::vector<DestinationRule> allowed;
  std::vector<DestinationRule> denied;
  bool ipv6 = true;
  bool operator==(const RefuseNeighbours&) const = default;
};
struct Listener {
  enum class Purpose : std::uint8_t {
    names,         // DNS over UDP
    name_streams,  // DNS over TCP
    connections,   // redirected connections
    proxy,         // HTTP and SOCKS5
    host_port,     // forwards to `target` of the host's localhost
    datagrams,     // forwards to `target` of the requested address
  };
  Purpose purpose = Purpose::connections;
  std::string address;
  std::uint16_t port = 0;
  std::uint16_t target = 0;
  bool operator==(const Listener&) const = default;
};
struct Listen {  // a socket opened inside and passed to the supervisor
  Listener listener;
  bool operator==(const Listen&) const = default;
};
enum class NetworkProvider : std::uint8_t { none, pasta, slirp4netns, veth };
// Waits until the supervisor serves the listeners, and until the network is connected if another
// program does that.
struct JoinNetwork {
  NetworkProvider provider = NetworkProvider::none;
  bool operator==(const JoinNetwork&) const = default;
};
struct ConfigureLink {
  std::uint32_t link = 0;
  std::string address;
  std::uint8_t prefix = 0;
  std::string gateway;
  bool operator==(const ConfigureLink&) const = default;
};
struct SetHostname {
  std::string name;
  bool operator==(const SetHostname&) const = default;
};
// The new root: an empty tmpfs to build the minimal view in.
struct RootTmpfs : NoDetails {};
// The new root: the host's whole tree, read-only.
struct RootHost : NoDetails {};
// What is made may be there already, left by an earlier sandbox: in a kept home.
enum class Existing : std::uint8_t { fail, keep };
struct MakeDirectory {
  Path target;
  std::uint32_t mode = 0755;
  Existing existing = Existing::fail;
  bool operator==(const MakeDirectory&) const = default;
};
struct MakeFile {  // a small file with fixed contents, or an empty mount point
  Path target;
  std::string contents{};
  std::uint32_t mode = 0444;
  Existing existing = Existing::fail;
  bool operator==(const MakeFile&) const = default;
};
struct CoverFile {  // an existing file of the host's view, with other contents inside
  Path target;
  std::string contents{};
  bool operator==(const CoverFile&) const = default;
};
struct MakeSymlink {
  Path target;
  std::string link;
  Existing existing = Existing::fail;
  bool operator==(const MakeSymlink&) const = default;
};
// How a tree of the host reaches the sandbox.
enum class Through : std::uint8_t {
  mount,
  supervisor,  // a git directory, over FUSE: guarded names are read-only, whatever the host does meanwhile
  kept_home,  // other sandboxes write in it at the same time: what is mounted in it is moved there complete
};
struct BindMount {
  Path source;  // canonical on the host: a symlink on it is an error
  Path target;
  MountFlags flags{};
  PathKind kind = PathKind::directory;  // of what is mounted
  Through through = Through::mount;
  bool operator==(const BindMount&) const = default;
};
// Changes the access to a path of the new root, by bind-mounting it onto itself. Also pins it: a
// mount point can be neither renamed nor removed.
struct Remount {
  Path target;
  MountFlags flags{};
  bool operator==(const Remount&) const = default;
};
enum class TmpfsLife : std::uint8_t {
  sandbox,  // ends with it
  shared,   // Policy::shared_tmp: one for several sandboxes
};
struct TmpfsMount {
  Path target;
  std::uint64_t size = 0;  // bytes
  std::uint64_t inodes = 0;
  std::uint32_t mode = 0755;
  MountFlags flags{.access = Access::read_write};
  TmpfsLife life = TmpfsLife::sandbox;
  bool operator==(const TmpfsMount&) const = default;
};
// Replaces the path by an empty directory or an unreadable empty file.
struct HideMount {
  Path target;
  PathKind kind = PathKind::directory;
  Missing if_missing = Missing::fail;  // when it has disappeared since
  bool operator==(const HideMount&) const = default;
};
struct OverlayMount {  // writes go to a private tmpfs and are discarded with the sandbox
  Path lower;          // canonical on the host
  Path target;
  std::uint64_t size = 0;
  bool operator==(const OverlayMount&) const = default;
};
struct ProcFilesystem {
  ProcMount kind = ProcMount::full;
  Access machine = Access::read_write;  // to what belongs to no process; its own modes decide too
  bool operator==(const ProcFilesystem&) const = default;
};
struct DevptsMount : NoDetails {};
struct MqueueMount : NoDetails {};
struct Seal {  // makes this mount read-only, after all mount points in it exist
  Path target;
  bool operator==(const Seal&) const = default;
};
struct EnterRoot : NoDetails {};  // pivot_root; the host's tree is detached
enum class LimitKind : std::uint8_t {
  hard,  // soft and hard limit
  soft,  // the hard one stays as it was: programs may raise it again
  part,  // the caller's soft limit, divided by `value`
};
struct ResourceLimit {
  int resource = 0;  // RLIMIT_*
  std::string name;
  std::uint64_t value = 0;
  LimitKind kind = LimitKind::hard;
  bool operator==(const ResourceLimit&) const = default;
};
struct DropCapabilities : NoDetails {};
struct NoNewPrivileges : NoDetails {};
struct LandlockRule {
  Path path;
  std::uint64_t rights = 0;
  bool operator==(const LandlockRule&) const = default;
};
struct RestrictLandlock {
  int abi = 0;
  std::uint64_t handled = 0;
  std::uint64_t scoped = 0;
  std::vector<LandlockRule> rules;
  bool operator==(const RestrictLandlock&) const = default;
};
// System calls that name an id that is not mapped answer EPERM, as outside for an id of another user. The kernel's answer is
// EINVAL, which programs take for a mistake of their own.
struct RefuseForeignIds {
  std::uint32_t uid = 0, gid = 0;  // the mapped ones, inside
  bool operator==(const RefuseForeignIds&) const = default;
};
struct InstallSeccomp {
  std::string profile;  // a name in plan/seccomp/profile.h
  bool operator==(const InstallSeccomp&) const = default;
};
// Checks from inside that the protections are in force.
struct Verify {
  enum class What : std::uint8_t { no_capabilities, no_new_privs, sealed_root, seccomp_filter };
  What what = What::no_capabilities;
  bool operator==(const Verify&) const = default;
};

using Action =
    std::variant<MapIds, OffsetClocks, RaiseLoopback, KernelSetting, AssignAddresses,
                 RedirectTraffic, RefuseNeighbours, Listen, JoinNetwork, ConfigureLink, SetHostname,
                 RootTmpfs, RootHost, MakeDirectory, MakeFile, CoverFile, MakeSymlink, BindMount,
                 Remount, TmpfsMount, HideMount, OverlayMount, ProcFilesystem, DevptsMount,
                 MqueueMount, Seal, EnterRoot, ResourceLimit, DropCapabilities, NoNewPrivileges,
                 RestrictLandlock, RefuseForeignIds, InstallSeccomp, Verify>;

struct Step {
  Action action;
  Origin origin{};  // which flag, rule or built-in list asked for it
  std::string why{};
  bool operator==(const Step&) const = default;
};

// A limit put on the sandbox's control group: file name and value, on v1 or v2.
struct GroupLimit {
  std::string controller;  // "memory"
  Path parent;             // the directory the sandbox's own group is made in
  std::string file;        // "memory.max"
  std::string value;
  bool operator==(const GroupLimit&) const = default;
};

struct GroupPlan {
  CgroupKind kind = CgroupKind::none;
  Path manager{};  // scope: the socket to ask
  // Without a group: the supervisor adds up the processes and kills them all beyond this.
  std::optional<std::uint64_t> sampled_memory{};
  std::string name{};  // of the group to make
  std::vector<GroupLimit> limits{};
  bool operator==(const GroupPlan&) const = default;
};

// What must be checked after the run, because it could not be prevented.
struct GuardPlan {
  std::vector<Path> roots{};         // writable trees of the host to walk, canonical
  std::vector<std::string> names{};  // guard names in force, see policies/guards.txt
  std::vector<Path> mounted{};       // guarded host paths that are read-only inside
  std::vector<Path> places{};        // where each of them is inside
  // Git directories of the host in which no guarded name can be made from inside.
  std::vector<GitDirectory> served{};
  std::string unserved{};  // why the others are guarded by mounts only; empty when there are none
  bool operator==(const GuardPlan&) const = default;
};

// What the supervisor does for the sandbox's network while it runs.
struct NetworkPlan {
  NetworkMode mode = NetworkMode::none;
  std::vector<DestinationRule> allow{};
  std::vector<DestinationRule> deny{};
  std::vector<DestinationRule> allow_udp{};
  std::vector<PublishedPort> publish{};
  std::vector<Listener> listeners{};  // in the order in which they are passed
  NetworkProvider provider = NetworkProvider::none;
  Path program{};                    // pasta or slirp4netns
  std::string link{};                // veth: its name on the host,
  std::string subnet{};              // and the host's address on it
  std::vector<Prefix> neighbours{};  // networks of this machine
  bool ipv6 = true;

  // Whether the supervisor has anything to do.
  bool needs_service() const {
    return !listeners.empty() || !publish.empty() || provider != NetworkProvider::none;
  }
  bool operator==(const NetworkPlan&) const = default;
};

struct Plan {
  std::string id{};
  View view = View::minimal;
  std::vector<std::string> namespaces{};  // "user", "mount", … in clone order
  std::vector<Step> steps{};
  GroupPlan group{};
  GuardPlan guards{};
  NetworkPlan network{};
  std::map<std::string, std::string> environment{};
  Path directory{};  // working directory of the command
  Path workspace{};  // where the workspace is inside
  Limits limits{};
  std::vector<std::string> notes{};  // what is weaker than requested, and why

  void add(Action action, Origin origin, std::string why) {
    steps.push_back(Step{std::move(action), std::move(origin), std::move(why)});
  }
  bool operator==(const Plan&) const = default;
};

}  // namespace coop
