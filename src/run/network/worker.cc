#include "run/network/worker.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

#include "base/address.h"
#include "child/process.h"
#include "child/program.h"
#include "egress/dns/forwarder.h"
#include "egress/dns/resolver.h"
#include "egress/dns/service.h"
#include "egress/machine_addresses.h"
#include "egress/published_port.h"
#include "egress/udp_relay.h"
#include "run/network/neighbour_watch.h"
#include "run/network/provider.h"
#include "sys/event_loop.h"
#include "sys/message.h"
#include "sys/own_descriptors.h"
#include "sys/process.h"

namespace coop::run {

namespace {

constexpr std::size_t kMostLookups = 400;
constexpr std::size_t kMostFirst = 300;
constexpr std::size_t kMostLast = 300;
constexpr std::size_t kMostUntold = 10000;

using Purpose = Listener::Purpose;

// Two descriptors for each connection, and some for pipes.
std::size_t most_connections() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kOthers = 256;
  const rlim_t files = std::min<rlim_t>(limit.rlim_cur, 65536);
  return files <= 2 * kOthers ? 64 : static_cast<std::size_t>((files - kOthers) * 2 / 5);
}

// Serves connections: the part common to all workers.
class Connections {
 public:
  Connections(EventLoop& loop, NetworkShared& shared, egress::ResolverConfig config,
              egress::MachineAddresses own, std::function<void()> crowded)
      : own_(std::move(own)),
        resolver_(loop, std::move(config)),
        egress_(loop, shared.names, shared.rules.connections, shared.budget,
                options(shared, std::move(crowded))) {}

  Result<void> serve(UniqueFd socket, const Listener& listener) {
    switch (listener.purpose) {
      case Purpose::connections: return egress_.serve_gateway(std::move(socket));
      case Purpose::proxy: return egress_.serve_proxy(std::move(socket));
      case Purpose::host_port: return egress_.serve_host_port(std::move(socket), listener.target);
      default: return {};  // the first worker's
    }
  }

  egress::Resolver& resolver() { return resolver_; }
  policy::AddressGuard guard() const {
    return [this](const Prefix& address) { return own_.forbidden(address); };
  }

 private:
  egress::EgressOptions options(NetworkShared& shared, std::function<void()> crowded) {
    egress::EgressOptions options;
    options.outbound.look_up = [this, &shared](const std::string& name, auto found) {
      // Count every resolved name: the servers of an allowed domain see the names below it (covert
      // channel).
      if (!shared.names.number_of(name))
        return found(invalid("resolve " + name, "this sandbox has asked for too many names"));
      resolver_.look_up(name, std::move(found));
    };
    options.outbound.guard = guard();
    options.record = [&shared](const NetworkEvent& event) { shared.record(event); };
    options.most_connections = most_connections();
    options.crowded = std::move(crowded);
    return options;
  }

  egress::MachineAddresses own_;
  egress::Resolver resolver_;
  egress::Egress egress_;
};

// Without names the resolver configuration is not needed.
Result<egress::ResolverConfig> resolver_config(NetworkMode mode) {
  if (mode == NetworkMode::none) return egress::ResolverConfig{};
  return with_context("finding the name servers", egress::read_resolver_config());
}

Result<void> stop_with(EventLoop& loop, int stop) {
  return loop.watch(stop, EPOLLIN, [&loop](std::uint32_t) { loop.stop(); });
}

// A further worker: the same listeners, another descriptor table.
Result<void> run_second(NetworkShared& shared, const WorkerDescriptors& descriptors) {
  std::vector<int> keep = descriptors.listeners;
  keep.push_back(descriptors.stop);
  keep.push_back(shared.news);
  TRY(leave_program(std::move(keep)));
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  TRY(stop_with(*loop, descriptors.stop));
  egress::ResolverConfig config = TRY(resolver_config(shared.plan.mode));
  egress::MachineAddresses own = TRY(egress::MachineAddresses::open());
  Connections connections(*loop, shared, std::move(config), std::move(own), {});
  for (std::size_t index = 0; index < descriptors.listeners.size(); ++index)
    TRY(connections.serve(UniqueFd(descriptors.listeners[index]), shared.plan.listeners[index]));
  loop->run();
  loop->forget(descriptors.stop);
  return {};
}

// The first worker: also DNS, UDP and published ports.
class First {
 public:
  First(const std::shared_ptr<NetworkShared>& shared, WorkerDescriptors descriptors)
      : shared_(shared), descriptors_(std::move(descriptors)) {}

  ~First() {
    if (second_.joinable()) second_.join();
  }
  First(const First&) = delete;
  First& operator=(const First&) = delete;

  Result<void> run() {
    std::vector<int> keep = descriptors_.published;
    keep.push_back(descriptors_.stop);
    keep.push_back(descriptors_.socket);
    keep.push_back(descriptors_.init);
    keep.push_back(shared_->news);
    TRY(leave_program(std::move(keep)));
    loop_ = TRY(EventLoop::make());
    TRY(stop_with(*loop_, descriptors_.stop));
    std::vector<UniqueFd> listeners;
    const bool joined = TRY(receive(listeners));
    if (!joined) return {};
    if (listeners.size() != shared_->plan.listeners.size())
      return invalid("listeners", "the sandbox passed on " + std::to_string(listeners.size()) +
                                      " of " + std::to_string(shared_->plan.listeners.size()));
    TRY(connect());
    TRY(watch_neighbours());
    for (const UniqueFd& listener : listeners) descriptors_.listeners.push_back(listener.get());
    egress::ResolverConfig config = TRY(resolver_config(shared_->plan.mode));
    egress::MachineAddresses own = TRY(egress::MachineAddresses::open());
    connections_.emplace(*loop_, *shared_, std::move(config), std::move(own),
                         [this] { call_second(); });
    for (std::size_t index = 0; index < listeners.size(); ++index)
      TRY(serve(std::move(listeners[index]), shared_->plan.listeners[index]));
    TRY(publish());
    const child::NetworkWord word = child::NetworkWord::ready;
    TRY(send_message(descriptors_.socket, &word, sizeof word));
    loop_->run();
    return {};
  }

 private:
  // The plan's listeners come from the child. False: the sandbox failed to start or was ended.
  Result<bool> receive(std::vector<UniqueFd>& listeners) {
    std::optional<bool> joined;
    TRY(loop_->watch(descriptors_.socket, EPOLLIN, [&](std::uint32_t) {
      child::NetworkWord word{};
      Received received = receive_message(descriptors_.socket, &word, sizeof word);
      if (received.size != sizeof word) joined = false;
      else if (word == child::NetworkWord::joined) joined = true;
      else if (word == child::NetworkWord::netlink) rules_ = std::move(received.descriptor);
      else if (word == child::NetworkWord::listener)
        listeners.push_back(std::move(received.descriptor));
    }));
    loop_->run_until([&] { return joined.has_value(); });
    loop_->forget(descriptors_.socket);
    return joined.value_or(false);
  }

  Result<void> connect() {
    if (shared_->plan.provider == NetworkProvider::none) return {};
    provider_ = TRY(Provider::start(shared_->plan, shared_->pid, *loop_));
    if (const int ended = provider_->ended(); ended >= 0)
      TRY(loop_->watch(ended, EPOLLIN, [this, ended](std::uint32_t) {
        loop_->forget(ended);
        shared_->fail(Error{.kind = Error::Kind::system,
                            .operation = "what connects the network ended while the command ran"});
      }));
    return {};
  }

  // Before the command runs: until then a failure is one of the start.
  Result<void> watch_neighbours() {
    if (!provider_) return {};
    const auto told = [this](const Prefix& network) {
      shared_->record({.kind = NetworkEvent::Kind::neighbour,
                       .host = coop::to_text(network),
                       .rule = Rule::of_coop(Part::address_guard),
                       .problem = "this machine has joined it during the run"});
    };
    neighbours_ = TRY(NeighbourWatch::start(shared_->plan, std::move(rules_), *provider_, told));
    const int changes = neighbours_->fd();
    return loop_->watch(changes, EPOLLIN, [this, changes](std::uint32_t) {
      Result<void> updated = neighbours_->update();
      if (updated) return;
      loop_->forget(changes);
      end_sandbox(std::move(updated).error());
    });
  }

  // The rest of the run would have weaker rules than the plan says.
  void end_sandbox(Error why) {
    why.context.insert(why.context.begin(), "refusing a network that this machine has joined");
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->ended = std::move(why);
    }
    kill_at_once(descriptors_.init);
  }

  Result<void> serve(UniqueFd socket, const Listener& listener) {
    switch (listener.purpose) {
      case Purpose::names: return names().serve_udp(std::move(socket));
      case Purpose::name_streams: return names().serve_tcp(std::move(socket));
      case Purpose::datagrams: return datagrams().serve(std::move(socket), listener.target);
      default: return connections_->serve(std::move(socket), listener);
    }
  }

  egress::DnsServer& names() {
    if (!names_ && shared_->plan.mode != NetworkMode::allowlist)
      names_ = std::make_unique<egress::DnsForwarder>(
          *loop_, [this] { return connections_->resolver().servers(); });
    if (!names_)
      names_ = std::make_unique<egress::DnsService>(
          *loop_, shared_->names, shared_->rules.connections,
          [this](const egress::DnsEvent& event) {
            shared_->record({.kind = NetworkEvent::Kind::lookup,
                             .host = event.name,
                             .allowed = event.allowed,
                             .rule = event.rule,
                             .grant = event.grant});
          });
    return *names_;
  }

  egress::UdpRelay& datagrams() {
    if (!datagrams_) {
      datagrams_.emplace(
          *loop_, egress::UdpOptions{
                      .judge =
                          [this](const Destination& asked) {
                            return policy::judge(shared_->rules.datagrams, asked,
                                                 connections_->guard());
                          },
                      .record = [this](const NetworkEvent& event) { shared_->record(event); }});
    }
    return *datagrams_;
  }

  Result<void> publish() {
    const std::vector<PublishedPort>& ports = shared_->plan.publish;
    if (ports.empty()) return {};
    published_.emplace(*loop_,
                       egress::PublishedPorts::Options{
                           .ask_for_socket = [this] { return ask_for_socket(); },
                           .record = [this](const NetworkEvent& event) { shared_->record(event); },
                           .most_connections = most_connections() / 2});
    for (std::size_t index = 0; index < ports.size(); ++index)
      TRY(published_->serve(UniqueFd(descriptors_.published[index]), ports[index]));
    return loop_->watch(descriptors_.socket, EPOLLIN, [this](std::uint32_t) { take_socket(); });
  }

  // Never blocks: init may be blocked until we read.
  Result<void> ask_for_socket() const {
    const child::NetworkWord word = child::NetworkWord::socket;
    if (::send(descriptors_.socket, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
      return system_error("send", "the sandbox");
    return {};
  }

  void take_socket() {
    child::NetworkWord word{};
    Received received = receive_message(descriptors_.socket, &word, sizeof word);
    if (received.size != sizeof word) return loop_->forget(descriptors_.socket);  // init has exited
    if (word == child::NetworkWord::socket) published_->take_socket(std::move(received.descriptor));
  }

  // The first worker has no descriptors left.
  void call_second() {
    if (second_.joinable()) return;
    try {
      second_ = std::thread([shared = shared_, descriptors = descriptors_] {
        if (const Result<void> done = run_second(*shared, descriptors); !done)
          shared->fail(done.error());
      });
    } catch (const std::system_error& error) {
      // The first worker continues with as many connections as it can have.
      shared_->fail(system_error_of(error.code().value(), "start a second thread").error());
    }
  }

  std::shared_ptr<NetworkShared> shared_;
  WorkerDescriptors descriptors_;
  std::unique_ptr<EventLoop> loop_{};
  UniqueFd rules_{};  // netlink, of the sandbox's namespace
  std::unique_ptr<Provider> provider_{};
  std::unique_ptr<NeighbourWatch> neighbours_{};
  std::optional<Connections> connections_{};
  std::unique_ptr<egress::DnsServer> names_{};
  std::optional<egress::UdpRelay> datagrams_{};
  std::optional<egress::PublishedPorts> published_{};
  std::thread second_{};
};

}  // namespace

void NetworkShared::record(const NetworkEvent& event) {
  const std::lock_guard lock(mutex);
  keep(event);
  if (!hooked || untold.size() >= kMostUntold) return;
  untold.push_back(event);
  ::eventfd_write(news, 1);
}

void NetworkShared::keep(const NetworkEvent& event) {
  const bool lookup = event.kind == NetworkEvent::Kind::lookup;
  std::vector<NetworkEvent>& list = lookup ? lookups : first;
  if (list.size() < (lookup ? kMostLookups : kMostFirst)) return list.push_back(event);
  if (!lookup) last.push_back(event);
  if (!lookup && last.size() <= kMostLast) return;
  if (!lookup) last.pop_front();
  ++left_out;
}

void NetworkShared::fail(Error error) {
  const std::lock_guard lock(mutex);
  if (!problem) problem = std::move(error);
}

void run_first_worker(const std::shared_ptr<NetworkShared>& shared, WorkerDescriptors descriptors) {
  ::prctl(PR_SET_NAME, "coop-network", 0, 0, 0);
  const int socket = descriptors.socket;
  First first(shared, std::move(descriptors));
  if (const Result<void> done = first.run(); !done) shared->fail(done.error());
  // Tells a waiting child that the network failed. close() is not enough: the program has a copy.
  ::shutdown(socket, SHUT_RDWR);
}

}  // namespace coop::run
