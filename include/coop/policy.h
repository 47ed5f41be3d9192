// What a sandbox may do. The defaults are safe: leaving a field out can only tighten.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coop/destination.h"
#include "coop/origin.h"
#include "coop/path.h"

namespace coop {

enum class View : std::uint8_t { minimal, host };
enum class Access : std::uint8_t { read_only, read_write };
enum class Missing : std::uint8_t { fail, skip };
enum class Need : std::uint8_t { required, best_effort };
enum class Identity : std::uint8_t { self, root };
enum class Debugging : std::uint8_t { allowed, denied };
enum class Mptcp : std::uint8_t { refused, allowed };
// In the host view: what policies/home.txt lists, or all but the secrets.
enum class HomeView : std::uint8_t { listed, shown };
// What HOME is inside.
enum class HomeKind : std::uint8_t {
  ephemeral,  // an empty directory that ends with the sandbox
  workspace,
  kept,  // a directory in coop's state, which later sandboxes with the same name see again
};
// Files of the workspace that policies/workspace_secrets.txt names.
enum class WorkspaceSecrets : std::uint8_t { shown, hidden };
// What of a command's output reaches the caller's terminal: all of it, or what cannot abuse the terminal.
enum class TerminalOutput : std::uint8_t { filtered, raw };
// Ordered by what they allow.
enum class NetworkMode : std::uint8_t { none, allowlist, full, veth, host };

// Mechanisms a policy may require or accept as best effort. Namespaces, mounts, capabilities and
// seccomp are not listed: without them there is no sandbox.
enum class Mechanism : std::uint8_t { landlock, proc, limits };

// protect: read-only wherever it would be writable; it shows nothing by itself.
enum class RuleKind : std::uint8_t { read_only, read_write, hide, overlay, tmpfs, protect };

// Which of two rules for one path wins, in ascending order.
enum class Precedence : std::uint8_t {
  by_order,  // the later one
  final,     // the organisation's: no other rule may show or write what this one covers
};

// One rule about one path, as the user wrote it, and where.
struct PathRule {
  RuleKind kind = RuleKind::hide;
  Path path{};
  Missing if_missing = Missing::fail;
  Origin origin{};
  std::string reason{};
  bool pattern = false;  // the path has wildcards (* ? [a-z]), to be matched when planning
  Precedence precedence = Precedence::by_order;
  bool operator==(const PathRule&) const = default;
};

// A port of the host that forwards to one of the sandbox's.
struct PublishedPort {
  std::string address = "127.0.0.1";  // of the host, as inet_ntop() writes it
  std::uint16_t host = 0;
  std::uint16_t sandbox = 0;
  Origin origin{};
  bool operator==(const PublishedPort&) const = default;
};

// A port of the sandbox's localhost that forwards to the same port of the host's.
struct HostPort {
  std::uint16_t port = 0;
  Origin origin{};
  bool operator==(const HostPort&) const = default;
};

// A Unix socket of the host that can be connected to inside, under the same path.
struct SocketRule {
  Path path{};
  Origin origin{};
  bool operator==(const SocketRule&) const = default;
};

struct Home {
  HomeKind kind = HomeKind::ephemeral;
  std::string name{};  // of a kept one
  bool operator==(const Home&) const = default;
};

// A file that a private home gets unless it has one there: settings of an agent.
struct HomeFile {
  std::string path{};  // below the home
  std::string contents{};
  Origin origin{};
  bool operator==(const HomeFile&) const = default;
};

struct Limits {
  std::optional<std::uint64_t> memory{};      // bytes, the whole sandbox
  std::optional<std::uint64_t> pids = 4096;   // processes and threads; nullopt: no limit
  std::optional<std::uint64_t> milli_cpus{};  // thousandths of a CPU
  std::uint64_t tmp_size = std::uint64_t{512} << 20;
  std::uint64_t tmp_inodes = 65536;
  // Of each process. Also bounds what the sandbox's processes have in flight between Unix sockets, which the kernel
  // counts per user: 640 and the 253 of one message leave some of the usual 1024 to programs of the host.
  std::optional<std::uint64_t> open_files = 640;
  std::optional<std::uint64_t> file_size{};  // bytes, one file
  std::optional<std::chrono::milliseconds> timeout{};
  std::uint64_t output_limit = std::uint64_t{1} << 20;  // captured bytes of each stream
  bool operator==(const Limits&) const = default;
};

// The organisation's: what no other layer and no call may exceed. Unset: no bound.
struct Bounds {
  std::optional<std::vector<Path>> workspaces{};  // trees in which a workspace may be
  std::optional<std::vector<Path>> readable{};    // trees, as are the next
  std::optional<std::vector<Path>> writable{};
  std::optional<std::vector<Path>> tmpfs{};
  std::optional<std::chrono::milliseconds> timeout{};
  // Variables that keep their value; others that select programs or files cannot be set.
  std::optional<std::map<std::string, std::string>> environment{};
  std::optional<std::vector<std::string>>
      variables{};  // names with wildcards: others cannot be set
  Origin origin{};
  bool operator==(const Bounds&) const = default;
};

// Where values were written, by the name of their key: "memory". Only for what is shown, so it makes no policies differ.
struct SettingOrigins {
  std::map<std::string, Origin, std::less<>> of{};
  bool operator==(const SettingOrigins&) const { return true; }
};

class SharedTmp;  // run/start/shared_tmp.h

struct Policy {
  std::string id{};  // of the sandbox; its hostname is coop-<id>
  View view = View::minimal;
  HomeView home_view = HomeView::listed;
  Home home{};
  std::vector<HomeFile> home_files{};
  WorkspaceSecrets workspace_secrets = WorkspaceSecrets::shown;
  Path workspace{};  // on the host, canonical
  Access workspace_access = Access::read_write;
  std::vector<PathRule> rules{};             // in the order written: later wins over earlier
  std::vector<std::string> allow_guarded{};  // guard names switched off, see policies/guards.txt
  Identity identity = Identity::self;
  NetworkMode network = NetworkMode::none;
  // allowlist: all that can be reached; full, veth: exceptions to the refused addresses
  std::vector<DestinationRule> allow_net{};
  std::vector<DestinationRule> deny_net{};   // these win
  std::vector<DestinationRule> allow_udp{};  // addresses and networks with a port
  std::vector<PublishedPort> publish{};
  std::vector<HostPort> host_ports{};
  Mptcp mptcp = Mptcp::refused;
  std::vector<SocketRule> sockets{};
  Debugging debugging = Debugging::allowed;
  TerminalOutput terminal = TerminalOutput::filtered;  // of `coop run` at a terminal
  std::optional<std::int64_t> time_offset{};  // seconds added to the monotonic and boot clocks
  std::string hostname{};                     // instead of coop-<id>
  std::optional<Path> directory{};            // working directory inside; default: the workspace
  std::map<std::string, std::string> set_environment{};
  std::vector<std::string> pass_environment{};
  std::vector<std::string> unsafe_environment{};  // variables that inject code, allowed by name
  std::map<Mechanism, Need> needs{};
  Limits limits{};
  Bounds bounds{};                   // the organisation's, for every rule of the list above
  std::vector<std::string> notes{};  // about how this policy was made; the plan repeats them
  SettingOrigins origins{};
  // One /tmp for every sandbox of this policy, with what earlier ones left in it. Null: each has its own, empty one.
  std::shared_ptr<SharedTmp> shared_tmp{};

  Need need(Mechanism mechanism) const;
  bool operator==(const Policy&) const = default;
};

}  // namespace coop
