#include "arena.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "launch.h"

namespace coop::bench {

namespace {

// The veth pair leads nowhere: pasta needs a default route to copy. Reuse ports in TIME_WAIT,
// because there are more connections in a minute than ports.
const std::string kNetwork =
    "set -e\n"
    "ip link set lo up\n"
    "ip address add " +
    kServerAddress +
    "/32 dev lo\n"
    "ip link add outside type veth peer name nowhere\n"
    "ip address add 192.0.2.1/24 dev outside\n"
    "ip link set outside up\n"
    "ip link set nowhere up\n"
    "ip route add default via 192.0.2.2\n"
    "cd /proc/sys/net/ipv4\n"
    "echo 1 >ip_forward\n"
    "echo 1 >tcp_tw_reuse\n"
    "echo 1024 65535 >ip_local_port_range\n";

class Server {
 public:
  static Result<Server> start(const Path& load) {
    const Program program =
        TRY(Program::prepare(Launch{.arguments = {load, "server", kServerAddress, kServerPort}}));
    const pid_t pid = TRY(program.start());
    return Server(pid);
  }
  Server(Server&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Server& operator=(Server&&) = delete;
  ~Server() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  explicit Server(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

// Waits until it answers.
Result<void> await_server(const Path& load) {
  constexpr int kTries = 100;
  const Program program = TRY(Program::prepare(
      Launch{.arguments = {load, "setup", "plain", kServerAddress, kServerPort, "1"}}));
  Result<std::string> answered = program.rehearse();
  for (int round = 0; !answered && round < kTries; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    answered = program.rehearse();
  }
  if (!answered) return std::unexpected(answered.error());
  return {};
}

Result<void> work_inside(const Path& load, const std::function<void()>& work) {
  if (::unshare(CLONE_NEWNET) != 0) return system_error("unshare", "CLONE_NEWNET");
  const Program network = TRY(Program::prepare(Launch{.arguments = {"/bin/sh", "-c", kNetwork}}));
  TRY(with_context("making a network", network.rehearse()));
  const Server server = TRY(Server::start(load));
  TRY(with_context("waiting for the server", await_server(load)));
  work();
  return {};
}

}  // namespace

Result<void> within_arena(const Path& load, const std::function<void()>& work) {
  Result<void> done{};
  std::thread([&] { done = work_inside(load, work); }).join();
  return done;
}

}  // namespace coop::bench
