#include "net/dns_forwarder.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "net/addresses.h"

namespace coop::net {

namespace {

constexpr std::size_t kMostQuestions = 256;
constexpr std::size_t kMostStreams = 64;
constexpr std::chrono::seconds kAnswerTime{3};

}  // namespace

DnsForwarder::DnsForwarder(EventLoop& loop, std::vector<std::string> servers, std::uint16_t port)
    : loop_(loop), servers_(std::move(servers)), port_(port) {}

DnsForwarder::~DnsForwarder() {
  for (const UniqueFd& socket : sockets_) loop_.forget(socket.get());
  while (!questions_.empty()) end(questions_.begin());
  for (Stream& stream : streams_) {
    stream.relay.reset();
    if (stream.server.valid()) loop_.forget(stream.server.get());
  }
}

Result<void> DnsForwarder::serve_udp(UniqueFd socket) {
  const int fd = socket.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { datagram(fd); }));
  sockets_.push_back(std::move(socket));
  return {};
}

Result<void> DnsForwarder::serve_tcp(UniqueFd listener) {
  const int fd = listener.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { accept(fd); }));
  sockets_.push_back(std::move(listener));
  return {};
}

UniqueFd DnsForwarder::connect_to(const std::string& server, int type) const {
  sockaddr_storage storage{};
  const socklen_t size =
      fill_socket_address(storage, address_bytes(server).value_or(std::string()), port_);
  if (size == 0) return {};
  UniqueFd socket(::socket(storage.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return {};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) < 0 &&
      errno != EINPROGRESS)
    return {};
  return socket;
}

void DnsForwarder::datagram(int fd) {
  std::array<char, 4096> buffer;
  sockaddr_storage asker{};
  socklen_t size = sizeof asker;
  const ssize_t count = ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&asker), &size);
  if (count <= 0 || questions_.size() >= kMostQuestions) return;
  const Place question = questions_.insert(questions_.end(), Question{});
  question->asked_on = fd;
  question->asker.assign(reinterpret_cast<const char*>(&asker), size);
  question->message.assign(buffer.data(), static_cast<std::size_t>(count));
  ask_next(question);
}

void DnsForwarder::ask_next(Place question) {
  loop_.cancel(question->deadline);
  if (question->server.valid()) loop_.forget(question->server.get());
  question->server.reset();
  while (question->next < servers_.size()) {
    question->server = connect_to(servers_[question->next++], SOCK_DGRAM);
    if (!question->server.valid()) continue;
    if (::send(question->server.get(), question->message.data(), question->message.size(),
               MSG_NOSIGNAL) < 0)
      continue;
    const Result<void> watched = loop_.watch(
        question->server.get(), EPOLLIN, [this, question](std::uint32_t) { answered(question); });
    if (!watched) break;
    question->deadline = loop_.after(kAnswerTime, [this, question] { ask_next(question); });
    return;
  }
  end(question);  // who asked asks again, or gives up
}

void DnsForwarder::answered(Place question) {
  std::array<char, 65535> buffer;
  const ssize_t count = ::recv(question->server.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count < 0) return ask_next(question);  // nobody is there
  ::sendto(question->asked_on, buffer.data(), static_cast<std::size_t>(count),
           MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(question->asker.data()),
           static_cast<socklen_t>(question->asker.size()));
  end(question);
}

void DnsForwarder::end(Place question) {
  loop_.cancel(question->deadline);
  if (question->server.valid()) loop_.forget(question->server.get());
  questions_.erase(question);
}

void DnsForwarder::accept(int fd) {
  UniqueFd client(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client.valid() || streams_.size() >= kMostStreams || servers_.empty()) return;
  UniqueFd server = connect_to(servers_.front(), SOCK_STREAM);
  if (!server.valid()) return;
  const auto stream = streams_.insert(streams_.end(), Stream{});
  stream->client = std::move(client);
  stream->server = std::move(server);
  const Result<void> watched =
      loop_.watch(stream->server.get(), EPOLLOUT, [this, stream](std::uint32_t events) {
        loop_.forget(stream->server.get());
        if ((events & EPOLLERR) != 0) return end_stream(stream);
        stream->relay = std::make_unique<Relay>(
            loop_, pipes_, Relay::Sockets{std::move(stream->client), std::move(stream->server)}, "",
            [this, stream](const Relayed&) { loop_.post([this, stream] { end_stream(stream); }); });
        if (const Result<void> started = stream->relay->start(); !started) end_stream(stream);
      });
  if (!watched) end_stream(stream);
}

void DnsForwarder::end_stream(std::list<Stream>::iterator stream) {
  stream->relay.reset();
  if (stream->server.valid()) loop_.forget(stream->server.get());
  streams_.erase(stream);
}

}  // namespace coop::net
