#include "egress/published_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/address.h"
#include "egress/admission.h"

namespace coop::egress {

namespace {

constexpr std::chrono::seconds kConnectTime{15};
// Outstanding requests for a socket. The socket pair to init can buffer more than that, so neither
// side blocks on the other.
constexpr std::size_t kMostAsked = 64;

}  // namespace

PublishedPorts::PublishedPorts(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {}

PublishedPorts::~PublishedPorts() {
  for (const auto& [listener, port] : listeners_) loop_.forget(listener.get());
  for (Visitor& visitor : visitors_) {
    loop_.cancel(visitor.deadline);
    visitor.relay.reset();
    if (visitor.server.valid()) loop_.forget(visitor.server.get());
  }
}

Result<void> PublishedPorts::serve(UniqueFd listener, const PublishedPort& port) {
  auto& [socket, kept] = listeners_.emplace_back(std::move(listener), port);
  const int fd = socket.get();
  return loop_.watch(fd, EPOLLIN, [this, fd, &kept](std::uint32_t) { accept(fd, kept); });
}

void PublishedPorts::accept(int listener, const PublishedPort& port) {
  for (int count = 0; count < kMostAccepted && asked_ < kMostAsked; ++count) {
    UniqueFd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.valid() && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) return;
    if (!client.valid()) return loop_.rest(listener, kRest);
    if (visitors_.size() < options_.most_connections) receive(std::move(client), port);
  }
  if (asked_ >= kMostAsked) loop_.change(listener, 0);  // until there is an answer
}

void PublishedPorts::receive(UniqueFd client, const PublishedPort& port) {
  const Place visitor = visitors_.insert(visitors_.end(), Visitor{});
  visitor->client = std::move(client);
  visitor->event = {.kind = NetworkEvent::Kind::published,
                    .host = "localhost",
                    .address = port.address + ":" + std::to_string(port.host),
                    .port = port.sandbox,
                    .allowed = true,
                    .rule = Rule{port.origin}};
  if (const Result<void> asked = options_.ask_for_socket(); !asked)
    return end(visitor, to_text(asked.error()));
  ++asked_;
  waiting_.push_back(visitor);
  visitor->deadline =
      loop_.after(kConnectTime, [this, visitor] { end(visitor, errno_text(ETIMEDOUT)); });
}

void PublishedPorts::take_socket(UniqueFd socket) {
  if (asked_ > 0) --asked_;
  for (const auto& [listener, port] : listeners_) loop_.change(listener.get(), EPOLLIN);
  if (waiting_.empty()) return;  // the connection it was for has been closed
  const Place visitor = waiting_.front();
  waiting_.pop_front();
  if (!socket.valid()) return end(visitor, "the sandbox could not make a socket");
  visitor->server = std::move(socket);
  sockaddr_storage address{};
  const socklen_t size = fill_socket_address(address, {"\x7f\0\0\1", 4}, visitor->event.port);
  const int fd = visitor->server.get();
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), size) < 0 && errno != EINPROGRESS)
    return end(visitor, errno_text(errno));
  if (const Result<void> watched =
          loop_.watch(fd, EPOLLOUT, [this, visitor](std::uint32_t) { connected(visitor); });
      !watched)
    end(visitor, to_text(watched.error()));
}

void PublishedPorts::connected(Place visitor) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(visitor->server.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return end(visitor, errno_text(error));
  loop_.cancel(visitor->deadline);
  loop_.forget(visitor->server.get());
  const int on = 1;
  for (const int fd : {visitor->client.get(), visitor->server.get()})
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  visitor->relay = std::make_unique<Relay>(
      loop_, pipes_, Relay::Sockets{std::move(visitor->client), std::move(visitor->server)}, "",
      [this, visitor](const Relayed& bytes) {
        // The visitor's bytes go into the sandbox, the sandbox's come out.
        visitor->event.received = bytes.to_server;
        visitor->event.sent = bytes.to_client;
        // Not here: the relay that calls us would be destroyed.
        loop_.post([this, visitor] { end(visitor, {}); });
      });
  if (const Result<void> started = visitor->relay->start(); !started)
    end(visitor, to_text(started.error()));
}

void PublishedPorts::end(Place visitor, std::string problem) {
  loop_.cancel(visitor->deadline);
  visitor->relay.reset();
  if (visitor->server.valid()) loop_.forget(visitor->server.get());
  visitor->event.problem = std::move(problem);
  if (options_.record) options_.record(visitor->event);
  std::erase(waiting_, visitor);
  visitors_.erase(visitor);
}

}  // namespace coop::egress
