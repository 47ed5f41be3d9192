#include "run/network/network.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/address.h"
#include "run/network/worker.h"
#include "sys/signals_blocked.h"

namespace coop::run {

namespace {

constexpr std::ptrdiff_t kMostDenials = 100;  // of each kind

Result<UniqueFd> open_published(const PublishedPort& port) {
  const std::string place = port.address + ":" + std::to_string(port.host);
  sockaddr_storage storage{};
  const socklen_t size =
      fill_socket_address(storage, address_bytes(port.address).value_or(std::string()), port.host);
  if (size == 0) return invalid(port.origin, "\"" + port.address + "\" is not an address");
  UniqueFd socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return system_error("socket", place);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (storage.ss_family == AF_INET6)
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) < 0)
    return system_error("bind", place);
  constexpr int kBacklog = 512;
  if (::listen(socket.get(), kBacklog) < 0) return system_error("listen", place);
  return socket;
}

std::string what(const NetworkEvent& event) {
  if (event.host.empty()) return "a request to the proxy";
  const std::string place = with_port(event.host, event.port);
  switch (event.kind) {
    case NetworkEvent::Kind::lookup: return "looking up " + event.host;
    case NetworkEvent::Kind::datagrams: return "datagrams to " + place;
    default: return "connecting to " + place;
  }
}

// A hint for a port that cannot be bound.
Error with_hint(Error error) {
  if (error.errno_value == EADDRINUSE)
    error.hint = "another program listens there: choose another port of the host";
  if (error.errno_value == EADDRNOTAVAIL)
    error.hint = "this machine does not have that address: 127.0.0.1 is its own, 0.0.0.0 means all";
  if (error.errno_value == EACCES) error.hint = "ports under 1024 are root's: choose a higher one";
  return error;
}

}  // namespace

Result<std::unique_ptr<Network>> Network::make(const NetworkPlan& plan) {
  std::unique_ptr<Network> network(new Network);
  network->shared_ = std::make_shared<NetworkShared>();
  NetworkShared& shared = *network->shared_;
  shared.plan = plan;
  shared.rules = policy::sandbox_network({.network = plan.mode,
                                          .allow_net = plan.allow,
                                          .deny_net = plan.deny,
                                          .allow_udp = plan.allow_udp},
                                         plan.neighbours);
  network->news_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!network->news_.valid()) return system_error("eventfd");
  shared.news = network->news_.get();
  shared.plan.publish.clear();
  for (const PublishedPort& port : plan.publish) {
    Result<UniqueFd> opened = open_published(port);
    // A preset offers its port; another sandbox of the same agent may have taken it a moment ago.
    const bool offered = port.origin.scope == Scope::preset;
    if (!opened && offered && opened.error().errno_value == EADDRINUSE) continue;
    if (!opened) opened = std::unexpected(with_hint(std::move(opened).error()));
    UniqueFd listener = TRY(with_context(port.origin, std::move(opened)));
    network->published_.push_back(std::move(listener));
    shared.plan.publish.push_back(port);
  }
  network->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!network->stop_.valid()) return system_error("eventfd");
  return network;
}

Network::~Network() { stop(); }

Result<void> Network::start(UniqueFd socket, int pid, int pidfd) {
  socket_ = std::move(socket);
  init_.reset(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!init_.valid()) return system_error("fcntl", "a pidfd");
  shared_->pid = pid;
  WorkerDescriptors descriptors{.stop = stop_.get(), .socket = socket_.get(), .init = init_.get()};
  for (const UniqueFd& listener : published_) descriptors.published.push_back(listener.get());
  const SignalsBlocked blocked;
  try {
    thread_ =
        std::thread([shared = shared_, descriptors] { run_first_worker(shared, descriptors); });
  } catch (const std::system_error& error) {
    return system_error_of(error.code().value(), "start a thread");
  }
  return {};
}

void Network::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void Network::set_hook(Hook hook) {
  hook_ = std::move(hook);
  const std::lock_guard lock(shared_->mutex);
  shared_->hooked = static_cast<bool>(hook_);
}

void Network::tell() {
  if (!hook_) return;
  eventfd_t count = 0;
  ::eventfd_read(news_.get(), &count);
  std::vector<NetworkEvent> events;
  {
    const std::lock_guard lock(shared_->mutex);
    events = std::exchange(shared_->untold, {});
  }
  for (const NetworkEvent& event : events) hook_(event);
}

std::vector<NetworkEvent> Network::take_events() {
  const std::lock_guard lock(shared_->mutex);
  std::vector<NetworkEvent> events = std::exchange(shared_->lookups, {});
  for (NetworkEvent& event : shared_->first) events.push_back(std::move(event));
  for (NetworkEvent& event : shared_->last) events.push_back(std::move(event));
  shared_->first.clear();
  shared_->last.clear();
  return events;
}

std::size_t Network::left_out() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->left_out;
}

std::optional<Error> Network::problem() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->problem;
}

std::optional<Error> Network::ended() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ended;
}

std::vector<Denial> denials_of(const std::vector<NetworkEvent>& events) {
  std::vector<Denial> lookups;
  std::vector<Denial> others;
  for (const NetworkEvent& event : events) {
    if (event.allowed || event.kind == NetworkEvent::Kind::neighbour) continue;
    Denial denial{.reason = Denial::Reason::network,
                  .what = what(event),
                  .rule = event.rule.value_or(Rule::of_coop(Part::unlisted)),
                  .problem = event.problem,
                  .grant = event.grant};
    std::vector<Denial>& list = event.kind == NetworkEvent::Kind::lookup ? lookups : others;
    if (std::ranges::find(list, denial) == list.end()) list.push_back(std::move(denial));
  }
  // If there are too many, keep the first and the last: a flood hides neither.
  for (std::vector<Denial>* list : {&lookups, &others})
    if (std::ssize(*list) > kMostDenials)
      list->erase(list->begin() + kMostDenials / 2, list->end() - kMostDenials / 2);
  lookups.insert(lookups.end(), others.begin(), others.end());
  return lookups;
}

}  // namespace coop::run
