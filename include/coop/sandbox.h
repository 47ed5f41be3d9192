// Runs commands in a sandbox, from C++.
//
//   coop::Policy policy{.workspace = "/srv/project"};
//   coop::Result<coop::ExecOutput> done = coop::exec(policy, {"make", "test"});
//
// Every function is thread-safe. None of them changes the calling process: signal handlers, working
// directory, environment and rlimits stay as they are. A sandbox with a writable workspace has a
// small helper process (docs/adr/0016); in a program with several threads its exit raises SIGCHLD
// like that of any child, and coop reaps it itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/host_facts.h"
#include "coop/policy.h"
#include "coop/result.h"

namespace coop {

enum class Outcome : std::uint8_t {
  exited,          // by itself; exit_code is its own
  signalled,       // killed by a signal; exit_code is 128 + signal
  timed_out,       // killed by us; exit_code is 124
  out_of_memory,   // a process was killed by the memory limit and the command failed
  violation,       // killed by the system call filter; exit_code is 159
  not_found,       // the program does not exist inside; exit_code is 127
  not_executable,  // it exists and cannot be run; exit_code is 126
  guards_incomplete,  // guarded files that it made may remain in the workspace, see notes; exit_code is 125
  network_incomplete,  // killed by us: its network could not be kept from a network that this machine joined; exit_code is 125
};
std::string_view to_text(Outcome outcome);

// Captured output, bounded: the head and the tail are kept, the cut is marked.
struct Captured {
  std::string text{};
  std::uint64_t total_bytes = 0;
  bool truncated = false;
  bool operator==(const Captured&) const = default;
};

struct Usage {
  std::chrono::microseconds wall{};
  std::chrono::microseconds user_cpu{};
  std::chrono::microseconds system_cpu{};
  // Bytes: of the control group if there is one, else of the largest process.
  std::uint64_t peak_memory = 0;
  bool operator==(const Usage&) const = default;
};

// A refusal: what, by which rule, and the smallest grant that would allow it.
struct Denial {
  enum class Reason : std::uint8_t { network, guard, memory_limit, system_call };
  Reason reason = Reason::network;
  std::string what{};
  Rule rule{};
  std::string problem{};         // why the rule applies, where it does not say so itself
  std::optional<Grant> grant{};  // unset: nothing would
  std::string hint{};            // what to do where there is no grant
  bool operator==(const Denial&) const = default;
};

// One decision about the network: a DNS query, a connection, or the first datagram of a flow.
struct NetworkEvent {
  enum class Kind : std::uint8_t {
    lookup,
    connection,
    published,
    host_port,
    datagrams,
    neighbour  // with an open network: this machine has joined the network `host`, which is refused from now on
  };
  Kind kind = Kind::connection;
  std::string host{};     // a name, or an address as requested
  std::string address{};  // the address connected to, once known
  std::uint16_t port = 0;
  bool allowed = false;
  std::optional<Rule> rule{};    // that decided
  std::optional<Grant> grant{};  // the smallest that would allow it
  std::string problem{};         // why it was refused, or why an allowed one failed
  std::uint64_t sent = 0;        // bytes out of the sandbox
  std::uint64_t received = 0;    // bytes into it
  bool operator==(const NetworkEvent&) const = default;
};
std::string_view to_text(NetworkEvent::Kind kind);

// A guarded file that appeared or was changed during the run and was moved away.
struct Quarantined {
  Path path{};          // where it was, on the host
  Path moved_to{};      // where it is now
  std::string guard{};  // its name in policies/guards.txt
  std::string
      problem{};  // what in it is dangerous, where its contents decide: "post-checkout is a hook"
  bool operator==(const Quarantined&) const = default;
};

struct ExecOutput {
  int exit_code = 0;
  Outcome outcome = Outcome::exited;
  int signal = 0;
  Captured standard_output{};
  Captured standard_error{};
  Usage usage{};
  std::vector<Denial> denials{};
  std::vector<Quarantined> quarantined{};  // the first hundred
  std::uint64_t quarantined_total = 0;     // all of them
  std::vector<NetworkEvent> network{};     // the first thousand
  std::vector<std::string> notes{};        // what was weaker than requested
  bool ended_background = false;  // processes still ran when the command had ended, and were killed
  bool operator==(const ExecOutput&) const = default;
};

// What to run. Names without a slash are looked up on the PATH inside.
struct Command {
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};  // on top of the policy's
  std::optional<Path> directory{};                   // inside; default: the policy's
};

// Descriptors that become 0, 1 and 2 of the command; the caller keeps ownership. -1 means
// /dev/null.
struct Stdio {
  int input = -1;
  int output = -1;
  int error = -1;
};

// A command that runs, or has run, in a sandbox. Destroying the handle kills what still runs.
class Sandbox {
 public:
  Sandbox(Sandbox&&) noexcept;
  Sandbox& operator=(Sandbox&&) noexcept;
  ~Sandbox();

  const std::string& id() const;
  int pidfd() const;  // of the sandbox's init; readable when every process inside is dead

  // Sends a signal to the command (not to its descendants). SIGKILL: use kill().
  Result<void> signal(int number);
  // Kills everything inside, daemonised grandchildren too.
  Result<void> kill();
  // Waits for the end; kills at the timeout. Captured streams are empty: they went to Stdio.
  Result<ExecOutput> wait(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  struct State;
  explicit Sandbox(std::unique_ptr<State> state);

 private:
  friend class Pool;
  std::unique_ptr<State> state_;
};

// Probes what this machine supports. Takes some milliseconds.
Result<HostFacts> probe();

// To follow a command while it runs, and to end it early.
enum class Stream : std::uint8_t { output, error };
struct ExecHooks {
  // Called from the thread that called exec, with new output. It is captured as well.
  std::function<void(Stream, std::string_view)> arrived{};
  // Called from the thread that called exec, for each decision.
  std::function<void(const NetworkEvent&)> network{};
  int cancel_fd = -1;  // when this becomes readable, everything inside is killed
};

// Runs to the end and captures both streams. The policy's timeout applies unless one is given; the organisation's
// bounds both.
Result<ExecOutput> exec(const Policy& policy, const Command& command,
                        std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                        const ExecHooks& hooks = {});
Result<ExecOutput> exec(const Policy& policy, std::string_view shell_command,
                        std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                        const ExecHooks& hooks = {});

Result<Sandbox> spawn(const Policy& policy, const Command& command, const Stdio& stdio);

// Keeps `size` sandboxes of one policy prepared: every step except exec is done. Each runs one
// command and is replaced in the background. Must not be destroyed while a thread uses it, and
// cannot be used in a forked child.
class Pool {
 public:
  static Result<Pool> create(const Policy& policy, std::size_t size);
  Pool(Pool&&) noexcept;
  Pool& operator=(Pool&&) noexcept;
  ~Pool();

  Result<ExecOutput> exec(const Command& command,
                          std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                          const ExecHooks& hooks = {});
  Result<Sandbox> spawn(const Command& command, const Stdio& stdio);
  std::size_t ready() const;
  // Prepared sandboxes that were thrown away because the host had changed since.
  std::size_t discarded() const;

  struct State;
  explicit Pool(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace coop
