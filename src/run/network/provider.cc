#include "run/network/provider.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
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
  const ssize_t size = is_ready(output) ? ::read(output, text.data(), text.size()) : 0;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  std::string words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view said = trimmed(line);
    // pasta reports a missing system log after each line; skip that.
    if (said.empty() || said.contains("to syslog")) continue;
    words += (words.empty() ? "" : "; ") + std::string(said);
  }
  return words.empty() ? "exited without output" : "exited: " + printable(words.substr(0, kMost));
}

std::string hint_for(const std::string& words) {
  if (words.contains("tun"))
    return "it needs /dev/net/tun: sudo chmod 666 /dev/net/tun, or use --network allowlist, which "
           "does not";
  return "--network allowlist needs no other program";
}

class Program final : public Provider {
 public:
  // `pass` stays open in it. Its output is read only when it exits: what does not fit is lost, and must not block it.
  static Result<std::unique_ptr<Program>> start(const std::vector<std::string>& arguments,
                                                const std::vector<int>& pass) {
    Pipe output = TRY(make_pipe());
    if (::fcntl(output.write.get(), F_SETFL, O_NONBLOCK) < 0)
      return system_error("fcntl", "a pipe");
    TetheredProcess process = TRY(TetheredProcess::start(arguments, pass, output.write.get()));
    return std::unique_ptr<Program>(new Program(std::move(process), std::move(output.read)));
  }

  // Until `ready`, which is asked often: pasta has no descriptor that tells. The exit of the program, a stop of the loop
  // and a timeout are errors.
  Result<void> await(const std::string& name, EventLoop& loop, const std::function<bool()>& ready) {
    enum class State : std::uint8_t { starting, exited, late, connected };
    State state = State::starting;
    TRY(loop.watch(ended(), EPOLLIN, [&](std::uint32_t) { state = State::exited; }));
    const EventLoop::Timer late = loop.after(kStartTime, [&] { state = State::late; });
    EventLoop::Timer next{};
    const std::function<void()> ask = [&] {
      if (ready()) state = State::connected;
      else next = loop.after(std::chrono::milliseconds(2), ask);
    };
    ask();
    const bool decided = loop.run_until([&] { return state != State::starting; });
    loop.cancel(next);
    loop.cancel(late);
    loop.forget(ended());
    if (!decided) return unavailable(name, "the sandbox was ended meanwhile");
    if (state == State::late) return timed_out(name, "the network was not there after 10s");
    if (state == State::connected) return {};
    const std::string words = last_words(output_.get());
    return unsupported(name, words, hint_for(words));
  }

  int ended() const override { return process_.pidfd(); }

 private:
  Program(TetheredProcess process, UniqueFd output)
      : output_(std::move(output)), process_(std::move(process)) {}

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

// What is returned is moved. NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
Result<std::unique_ptr<Provider>> start_pasta(const NetworkPlan& plan, int pid, EventLoop& loop) {
  std::vector<std::string> arguments{plan.program,   "--foreground", "--quiet",     "--stderr",
                                     "--config-net", "--no-map-gw",  "--ns-ifname", "eth0",
                                     "-t",           "none",         "-u",          "none",
                                     "-T",           "none",         "-U",          "none"};
  if (::geteuid() == 0) arguments.insert(arguments.end(), {"--runas", "0"});
  if (!plan.ipv6) arguments.emplace_back("--ipv4-only");
  arguments.push_back(std::to_string(pid));
  auto program = TRY(Program::start(arguments, {}));
  TRY(program->await("pasta", loop, [pid] { return has_default_route(pid); }));
  return program;
}

Result<std::unique_ptr<Provider>> start_slirp(const NetworkPlan& plan, int pid, EventLoop& loop) {
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
  auto program = TRY(Program::start(arguments, {ready.write.get()}));
  ready.write.reset();
  const int told = ready.read.get();
  TRY(program->await("slirp4netns", loop, [told] {
    char byte = 0;
    return is_ready(told) && ::read(told, &byte, 1) == 1;
  }));
  return program;
}

// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace

Result<std::unique_ptr<Provider>> Provider::start(const NetworkPlan& plan, int pid,
                                                  EventLoop& loop) {
  switch (plan.provider) {
    case NetworkProvider::pasta: return start_pasta(plan, pid, loop);
    case NetworkProvider::slirp4netns: return start_slirp(plan, pid, loop);
    case NetworkProvider::veth: return lay_link(plan, pid);
    case NetworkProvider::none: break;
  }
  return std::make_unique<Provider>();
}

}  // namespace coop::run
