// What the child does: a flat list of instructions, frozen by run/start/freeze.cc before the clone.
// The child walks it, decides nothing, allocates nothing, and reports (step, errno).
#pragma once

#include <cstddef>
#include <cstdint>

#include "child/process.h"

namespace coop::child {

enum class Operation : std::uint8_t {
  await_parent,  // until systemd has moved us into our scope, at the supervisor's request
  // identity and machine
  set_dumpable,  // first: 0 or 1
  write_file,    // path (of the host), text; first: 1 when the file may be missing
  unshare,       // first: CLONE_NEW* flags
  raise_loopback,
  netlink,       // data: messages, first: their size, second: acknowledgements, third: protocol
  pass_netlink,  // third: protocol; passes a netlink socket of this namespace to the supervisor
  // Data: a socket address, first: its size, second: socket type; passed to the supervisor.
  listen,
  join_network,  // first: 1 to wait until the supervisor reports that the network is connected
  set_hostname,  // text
  // the new root, mounted over "/", where absolute paths do not see it
  root_tmpfs,  // text: "size=…" etc. as "key=value\0key=value\0\0"
  root_host,
  stage_masks,     // an empty directory and an unreadable file, used to hide paths; path: where
  stage_file,      // a file to cover others with: text (first bytes long), second: its number
  seal_masks,      // makes the masks read-only; none can be added
  make_directory,  // path inside, first: mode, third: 1 when it may exist
  make_file,       // path inside, text (first bytes long), second: mode, third: 1 when it may exist
  make_symlink,    // path inside, text, third: 1 when it may exist
  bind,            // path (of the host), text: target inside, first: attributes to set
  remount,         // path inside, first: attributes to set, second: 1: a guard
  mount_new,       // text: type, path: target inside, data: options, first: attributes
  mount_shared,    // path: target inside, first: descriptor of a detached mount, which is closed
  overlay,         // path: lower (host), text: target inside, data: options of the upper tmpfs
  serve_files,  // path inside: what the supervisor serves there; first: uid, second: gid, third: its number
  hide_directory,  // path inside, first: 1 when it may be missing or out of reach
  hide_file,       // the same
  cover_file,      // path inside, second: the number of the staged file
  seal,            // path inside: that mount alone becomes read-only
  // A home that other sandboxes write in at the same time. What is mounted in it is mounted first in an empty one in its
  // place, where no directory on the way can be exchanged, and moved at last, each with all that is mounted below it.
  bind_home,       // path (of the host), text: target inside, first: attributes to set
  move_into_home,  // path: relative to the home, of a mount in the empty one
  pass_tree,       // path inside: sends a descriptor of this directory to the supervisor
  protect_proc,  // path inside: every entry of this /proc that belongs to no process becomes read-only
  pass_mounts,  // sends a descriptor of the mount namespace to the supervisor, if it can be opened
  enter_root,
  pass_root,  // sends a descriptor of "/" to the supervisor
  // confinement
  // First: resource, second: value (both soft and hard, capped by the hard one), third: 1 for the soft one alone.
  limit,
  limit_part,         // first: resource, second: by what the soft limit is divided, for both
  open_terminal,      // first: rows, second: columns
  drop_capabilities,  // first: highest capability of this kernel
  no_new_privileges,
  landlock_create,  // first: handled, second: scoped, third: size of the attribute struct
  landlock_allow,   // path inside, first: rights
  landlock_restrict,
  // Data: sock_filter array, first: its length, second: 1 when the supervisor answers what the filter leaves open.
  seccomp,
  // checks
  verify_capabilities,
  verify_no_new_privileges,
  verify_root,  // "/" must refuse a new entry
  verify_seccomp,
};

struct Instruction {
  Operation operation{};
  std::uint16_t step = 0;  // index in the plan's steps, for the report
  const char* path = nullptr;
  const char* text = nullptr;
  const void* data = nullptr;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
};

// The command to execute. `candidates` are absolute paths, tried in order as execvp does.
struct Workload {
  const char* const* candidates = nullptr;
  const char* const* arguments = nullptr;
  const char* const* environment = nullptr;
  const char* directory = nullptr;
  int stdio[3] = {-1, -1, -1};
};

inline constexpr std::int64_t kEndless = -1;

struct Program {
  const Instruction* instructions = nullptr;
  std::uint32_t count = 0;
  // The rest is still being planned: a pointer to it comes over the control socket. It points into
  // memory shared with the supervisor, mapped before the clone.
  bool continues = false;
  int control = -1;            // SOCK_SEQPACKET: reports out, requests in; EOF means "exit"
  int network = -1;            // SOCK_SEQPACKET: passes sockets out, see join_network; or -1
  int files = -1;              // SOCK_SEQPACKET: passes descriptors of /dev/fuse out; or -1
  int calls = -1;              // SOCK_SEQPACKET: passes the filter's listener out; or -1
  bool makes_sockets = false;  // on `network`, for published ports
  int request = -1;            // pool: where the workload waits for its ExecRequest, or -1
  const int* keep = nullptr;   // descriptors not to close, ascending
  std::uint32_t keep_count = 0;
  char* command_line = nullptr;  // the supervisor's argv, which /proc/1/cmdline would show inside
  std::uint64_t command_line_size = 0;
  bool die_with_parent = false;      // only if the cloning thread lives as long as its process
  std::int64_t lifetime = kEndless;  // milliseconds of init; see LaunchOptions::timeout
  // RLIMIT_NOFILE of the workload; 0: as inherited. Not of init: the kernel compares the user's descriptors in flight with
  // the sender's limit, and another sandbox may have used up all that a workload may.
  std::uint64_t open_files = 0;
  void* workload_stack = nullptr;  // pool: upper end of the stack on which the workload waits
  Workload workload{};
};

// Sent on the control socket when a program continues.
struct Rest {
  const Program* program = nullptr;
};

// --- Messages on the control socket -----------------------------------------------------------

enum class Event : std::uint32_t {
  failed,       // step, error
  terminal,     // with a descriptor: the pty's master
  ready,        // prepared: every instruction is done, the workload waits
  exec_failed,  // error; step: what failed, as Failing
  stopped,      // status: the signal; not repeated before the supervisor sends SIGCONT
  exited,       // status as from wait4; resource usage of all reaped children
  timed_out,    // its lifetime expired before the supervisor ended it
  root,         // a descriptor comes along: "/" of the sandbox, O_PATH
  mounts,       // a descriptor comes along: its mount namespace
  tree,         // a descriptor comes along: of a directory, O_PATH; in the order of the program
};

enum class Failing : std::uint32_t { command, directory };

struct Report {
  Event event{};
  std::uint32_t step = 0;
  std::int32_t error = 0;
  std::int32_t status = 0;
  std::int64_t user_microseconds = 0;
  std::int64_t system_microseconds = 0;
  std::int64_t peak_kilobytes = 0;
  std::int32_t alone = 0;  // exited: no other process runs inside
};

enum class Recipients : std::int32_t {
  workload,  // the command itself
  group,     // its process group, as job control signals it
  everyone,  // every process inside except init
};

struct SignalRequest {
  std::int32_t number = 0;
  Recipients recipients = Recipients::workload;
};

// --- Messages on the network socket: first the sockets, each with its descriptor, then `joined`;
// afterwards the supervisor requests sockets, and gets one for each request ---

enum class NetworkWord : std::uint32_t {
  netlink,   // with a descriptor
  listener,  // with a descriptor
  joined,    // every socket has been passed
  ready,     // from the supervisor: the network is connected
  socket,    // from the supervisor: create one (IPv4, TCP); and the answer, with a descriptor
};

// On the files socket, with a descriptor of /dev/fuse: the file system with this number is mounted.
struct ServedFiles {
  std::uint64_t number = 0;
};

inline constexpr std::size_t kMostStagedFiles = 8;

// In Report::step: not a step, but the fork of the workload failed, or joining a control group.
inline constexpr std::uint32_t kForkStep = 0xffffffff;
inline constexpr std::uint16_t kGroupStep = 0xffff;

// Pool: sent with three descriptors, the standard streams. The workload is in the memory shared
// with the supervisor.
struct ExecRequest {
  const Workload* workload = nullptr;
};

// Clones a process that walks the program and becomes PID 1 of the sandbox. Its pid, or a negative errno.
long start_sandbox(const Program& program, const CloneOptions& options) noexcept;

}  // namespace coop::child
