#include "run/network/provider.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>

#include "base/path.h"
#include "base/text.h"
#include "run/cleanup/tethered_process.h"
#include "run/network/veth.h"

namespace coop::run {

namespace {

constexpr std::chrono::seconds kStartTime{10};

// The last output of a program before it exited, on one line.
std::string last_words(int output) {
  constexpr std::size_t kMost = 400;
  std::string text(4096, '\0');
  pollfd watched{output, POLLIN, 0};
  if (::poll(&watched, 1, 0) <= 0) return "exited without output";
  const ssize_t size = ::read(output, text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  std::string words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = trimmed(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(
        std::min(rest.size(), rest.find('\n') == rest.npos ? rest.size() : rest.find('\n') + 1));
    // pasta reports a missing system log after each line; skip that.
    if (line.empty() || line.contains("to syslog")) continue;
    words += (words.empty() ? "" : "; ") + std::string(line);
  }
  return words.empty() ? "exited without output" : "it ended: " + printable(words.substr(0, kMost));
}

std::string hint_for(const std::string& words) {
  if (words.contains("tun"))
    return "it needs /dev/net/tun: sudo chmod 666 /dev/net/tun, or use --network allowlist, which "
           "does not";
  return "--network allowlist needs no other program";
}

// For the program's output. It is read only when the program exits: what does not fit is lost, and
// must not block it.
Result<Pipe> make_output() {
  Pipe pipe = TRY(make_pipe());
  if (::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK) < 0) return system_error("fcntl", "a pipe");
  return pipe;
}

class Program final : public Provider {
 public:
  Program(TetheredProcess process, UniqueFd output)
      : output_(std::move(output)), process_(std::move(process)) {}

  // Until `ready` returns true. The exit of the program, a stop and a timeout are errors.
  Result<void> await(const std::string& name, int stop, int fd,
                     const std::function<bool()>& ready) {
    const auto deadline = std::chrono::steady_clock::now() + kStartTime;
    while (!ready()) {
      pollfd watched[3] = {{process_.pidfd(), POLLIN, 0}, {stop, POLLIN, 0}, {fd, POLLIN, 0}};
      // Without a descriptor to wait for, poll repeatedly.
      ::poll(watched, 3, fd >= 0 ? 1000 : 2);
      if (watched[1].revents != 0) return unavailable(name, "the sandbox was ended meanwhile");
      if (watched[0].revents != 0) {
        const std::string words = last_words(output_.get());
        return unsupported(name, words, hint_for(words));
      }
      if (std::chrono::steady_clock::now() > deadline)
        return timed_out(name, "the network was not there after 10s");
    }
    return {};
  }

  int ended() const override { return process_.pidfd(); }

 private:
  UniqueFd output_;
  TetheredProcess process_;
};

// A default route exists when pasta has copied the host's routes. Fields of a line of
// /proc/net/route: interface, destination, gateway, …; the eighth is the mask.
bool has_default_route(int pid) {
  const std::string place = "/proc/" + std::to_string(pid) + "/net/";
  const Result<std::string> four = read_file(place + "route");
  std::istringstream lines(four ? *four : std::string());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::array<std::string, 8> field;
    for (std::string& text : field) fields >> text;
    if (field[1] == "00000000" && field[7] == "00000000") return true;
  }
  // For IPv6 a route with a gateway: every namespace has a default route that rejects.
  const Result<std::string> six = read_file(place + "ipv6_route");
  return six && six->contains(
                    "00000000000000000000000000000000 00 "
                    "00000000000000000000000000000000 00 fe80");
}

Result<std::unique_ptr<Provider>> start_pasta(const NetworkPlan& plan, int pid, int stop) {
  Pipe output = TRY(make_output());
  std::vector<std::string> arguments{plan.program,   "--foreground", "--quiet",     "--stderr",
                                     "--config-net", "--no-map-gw",  "--ns-ifname", "eth0",
                                     "-t",           "none",         "-u",          "none",
                                     "-T",           "none",         "-U",          "none"};
  if (::geteuid() == 0) arguments.insert(arguments.end(), {"--runas", "0"});
  if (!plan.ipv6) arguments.emplace_back("--ipv4-only");
  arguments.push_back(std::to_string(pid));
  TetheredProcess process = TRY(TetheredProcess::start(arguments, {}, output.write.get()));
  auto program = std::make_unique<Program>(std::move(process), std::move(output.read));
  output.write.reset();
  TRY(program->await("pasta", stop, -1, [pid] { return has_default_route(pid); }));
  return program;
}

Result<std::unique_ptr<Provider>> start_slirp(const NetworkPlan& plan, int pid, int stop) {
  Pipe output = TRY(make_output());
  Pipe ready = TRY(make_pipe());
  const std::string fd = std::to_string(ready.write.get());
  std::vector<std::string> arguments{plan.program,
                                     "--configure",
                                     "--mtu=65520",
                                     "--enable-seccomp",
                                     "--disable-host-loopback",
                                     "--disable-dns",
                                     "--ready-fd=" + fd};
  // slirp4netns needs root in the sandbox's user namespace for this, and only root's has one.
  if (::geteuid() == 0) arguments.emplace_back("--enable-sandbox");
  arguments.insert(arguments.end(), {std::to_string(pid), "eth0"});
  TetheredProcess process =
      TRY(TetheredProcess::start(arguments, {ready.write.get()}, output.write.get()));
  auto program = std::make_unique<Program>(std::move(process), std::move(output.read));
  output.write.reset();
  ready.write.reset();
  const int told = ready.read.get();
  TRY(program->await("slirp4netns", stop, told, [told] {
    pollfd watched{told, POLLIN, 0};
    char byte = 0;
    return ::poll(&watched, 1, 0) > 0 && ::read(told, &byte, 1) == 1;
  }));
  return program;
}

}  // namespace

Result<std::unique_ptr<Provider>> Provider::start(const NetworkPlan& plan, int pid, int stop) {
  switch (plan.provider) {
    case NetworkProvider::pasta: return start_pasta(plan, pid, stop);
    case NetworkProvider::slirp4netns: return start_slirp(plan, pid, stop);
    case NetworkProvider::veth: return lay_link(plan, pid);
    case NetworkProvider::none: break;
  }
  return std::make_unique<Provider>();
}

}  // namespace coop::run
