#include "run/network_provider.h"

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
#include "run/keeper.h"
#include "run/veth.h"

namespace coop::run {

namespace {

constexpr std::chrono::seconds kStartTime{10};

// What a program said before it gave up, on one line.
std::string last_words(int output) {
  constexpr std::size_t kMost = 400;
  std::string text(4096, '\0');
  pollfd watched{output, POLLIN, 0};
  if (::poll(&watched, 1, 0) <= 0) return "it ended without a word";
  const ssize_t size = ::read(output, text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  std::string words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = trimmed(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(
        std::min(rest.size(), rest.find('\n') == rest.npos ? rest.size() : rest.find('\n') + 1));
    // pasta complains of a system log that is not there after each line.
    if (line.empty() || line.contains("to syslog")) continue;
    words += (words.empty() ? "" : "; ") + std::string(line);
  }
  return words.empty() ? "it ended without a word"
                       : "it ended: " + printable(words.substr(0, kMost));
}

std::string hint_for(const std::string& words) {
  if (words.contains("tun"))
    return "it needs /dev/net/tun: sudo chmod 666 /dev/net/tun, or use --network allowlist, which "
           "does not";
  return "--network allowlist needs no other program";
}

// For what a program says. It is read only when it ends: what does not fit is lost, and must not make it wait.
Result<Pipe> make_output() {
  Pipe pipe = TRY(make_pipe());
  if (::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK) < 0) return system_error("fcntl", "a pipe");
  return pipe;
}

class Program final : public Provider {
 public:
  Program(Keeper keeper, UniqueFd output)
      : output_(std::move(output)), keeper_(std::move(keeper)) {}

  // Until `ready` says so. The program's own end, ours and too long a time are errors.
  Result<void> await(const std::string& name, int stop, int fd,
                     const std::function<bool()>& ready) {
    const auto deadline = std::chrono::steady_clock::now() + kStartTime;
    while (!ready()) {
      pollfd watched[3] = {{keeper_.pidfd(), POLLIN, 0}, {stop, POLLIN, 0}, {fd, POLLIN, 0}};
      // Without a descriptor that says so we look again and again.
      ::poll(watched, 3, fd >= 0 ? 1000 : 2);
      if (watched[1].revents != 0) return invalid(name, "the sandbox was ended meanwhile");
      if (watched[0].revents != 0) {
        const std::string words = last_words(output_.get());
        return unsupported(name, words, hint_for(words));
      }
      if (std::chrono::steady_clock::now() > deadline)
        return invalid(name, "the network was not there after 10s");
    }
    return {};
  }

  int ended() const override { return keeper_.pidfd(); }

 private:
  UniqueFd output_;
  Keeper keeper_;
};

// A default route is there when pasta has copied those of the host: lines of /proc/net/route are the interface, the
// destination, the gateway and so on, the eighth field is the mask.
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
  // Of IPv6, one by a router: every network has a default route that refuses.
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
  Keeper keeper = TRY(Keeper::start(arguments, {}, output.write.get()));
  auto program = std::make_unique<Program>(std::move(keeper), std::move(output.read));
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
  // It wants to be root in the sandbox's user namespace for that, and only root's has one.
  if (::geteuid() == 0) arguments.emplace_back("--enable-sandbox");
  arguments.insert(arguments.end(), {std::to_string(pid), "eth0"});
  Keeper keeper = TRY(Keeper::start(arguments, {ready.write.get()}, output.write.get()));
  auto program = std::make_unique<Program>(std::move(keeper), std::move(output.read));
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
