// Running commands in a sandbox, from C++.
//
//   coop::Policy policy{.workspace = "/srv/project"};
//   coop::Result<coop::ExecOutput> done = coop::exec(policy, {"make", "test"});
//
// Every function may be called from many threads at once. None of them changes the calling
// process: no signal handler is installed, no directory, environment or limit is touched. A
// sandbox with a writable workspace has a small helper process (docs/adr/0016); in a program with
// several threads its end raises a SIGCHLD like that of any child, and we collect it ourselves.
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
  out_of_memory,   // something was killed by the memory limit and the command failed
  violation,       // killed by the system call filter; exit_code is 159
  not_found,       // the program does not exist inside; exit_code is 127
  not_executable,  // it exists and cannot be run; exit_code is 126
};
std::string_view to_text(Outcome outcome);

// What a stream carried, bounded: the head and the tail are kept, the cut is marked.
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
  std::uint64_t peak_memory = 0;  // bytes: the group's where there is one, else the largest process
  bool operator==(const Usage&) const = default;
};

// Something that was refused: what, by which rule, and the smallest grant that would allow it.
struct Denial {
  std::string what{};
  std::string rule{};
  std::string grant{};
  bool operator==(const Denial&) const = default;
};

// One decision about the network: a name that was asked for, a connection, or the first datagram of a flow.
struct NetworkEvent {
  enum class Kind : std::uint8_t { lookup, connection, published, host_port, datagrams };
  Kind kind = Kind::connection;
  std::string host{};     // a name, or an address as it was asked for
  std::string address{};  // the one outside, once there is one
  std::uint16_t port = 0;
  bool allowed = false;
  std::string rule{};          // the origin and pattern that decided
  std::string grant{};         // the smallest that would allow it; empty where none would
  std::string problem{};       // why it was refused, or why an allowed one did not come about
  std::uint64_t sent = 0;      // bytes out of the sandbox
  std::uint64_t received = 0;  // bytes into it
  bool operator==(const NetworkEvent&) const = default;
};
std::string_view to_text(NetworkEvent::Kind kind);

// A guarded file that appeared during the run and was taken away, with its bytes kept.
struct Quarantined {
  Path path{};      // where it was, on the host
  Path moved_to{};  // where it is now
  std::string rule{};
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
  std::vector<Quarantined> quarantined{};
  std::vector<NetworkEvent> network{};  // the first thousand
  std::vector<std::string> notes{};     // what was weaker than asked
  bool operator==(const ExecOutput&) const = default;
};

// What to run. Names without a slash are looked up on the PATH inside.
struct Command {
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};  // on top of the policy's
  std::optional<Path> directory{};                   // inside; default: the policy's
};

// Descriptors to become 0, 1 and 2 of the command; they stay the caller's. -1 means /dev/null.
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

  const std::string& session() const;
  int pidfd() const;  // of the sandbox's init; readable when everything inside is dead

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

// What this machine can do. Tries things; takes some milliseconds.
Result<HostFacts> probe();

// To follow a command while it runs, and to end it early.
enum class Stream : std::uint8_t { output, error };
struct ExecHooks {
  // Called from the thread that called exec, with what has just arrived. Captured all the same.
  std::function<void(Stream, std::string_view)> arrived{};
  // Called from the thread that called exec, for each decision.
  std::function<void(const NetworkEvent&)> network{};
  int cancel_fd = -1;  // when this becomes readable, everything inside is killed
};

// Runs to the end and captures both streams. The policy's timeout applies unless one is given.
Result<ExecOutput> exec(const Policy& policy, const Command& command,
                        std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                        const ExecHooks& hooks = {});
Result<ExecOutput> exec(const Policy& policy, std::string_view shell_command,
                        std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                        const ExecHooks& hooks = {});

Result<Sandbox> spawn(const Policy& policy, const Command& command, const Stdio& stdio);

// Keeps `size` sandboxes of one policy prepared: every step but exec is done. Each serves one
// command and is replaced in the background. Must not be destroyed while a thread is in it, and is of no
// use in a child that the program forks.
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

  struct State;
  explicit Pool(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace coop
