#include "egress/dns/forwarder.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "egress/admission.h"
#include "egress/dns/message.h"
#include "egress/dns/resolver_config.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostForwarded = 256;
constexpr std::size_t kMostForwardedStreams = 64;
constexpr std::chrono::seconds kAnswerTime{3};

}  // namespace

DnsForwarder::DnsForwarder(EventLoop& loop, Servers servers, std::uint16_t port)
    : loop_(loop), servers_(std::move(servers)), port_(port) {}

DnsForwarder::~DnsForwarder() {
  for (const UniqueFd& socket : sockets_) loop_.forget(socket.get());
  while (!questions_.empty()) end(questions_.begin());
  while (!streams_.empty()) end_stream(streams_.begin());
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
  const socklen_t size = fill_server_address(storage, server, port_);
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
  if (count <= 0 || questions_.size() >= kMostForwarded) return;
  const Place question = questions_.insert(questions_.end(), Question{});
  question->asked_on = fd;
  question->asker.assign(reinterpret_cast<const char*>(&asker), size);
  question->message.assign(buffer.data(), static_cast<std::size_t>(count));
  question->servers = servers_last_first();
  ask_next(question);
}

void DnsForwarder::ask_next(Place question) {
  loop_.cancel(question->deadline);
  if (question->server.valid()) loop_.forget(question->server.get());
  question->server.reset();
  while (!question->servers.empty()) {
    question->server = connect_to(question->servers.back(), SOCK_DGRAM);
    question->servers.pop_back();
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
  // Answer SERVFAIL: otherwise the client would time out and retry.
  const Result<DnsQuestion> asked = parse_question(question->message);
  const std::string answer = asked ? dns_answer(*asked, DnsCode::server_failure)
                                   : dns_failure(question->message, DnsCode::server_failure);
  if (!answer.empty()) reply(question, answer);
  end(question);
}

void DnsForwarder::reply(Place question, std::string_view answer) {
  ::sendto(question->asked_on, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(question->asker.data()),
           static_cast<socklen_t>(question->asker.size()));
}

void DnsForwarder::answered(Place question) {
  std::array<char, 65535> buffer;
  const ssize_t count = ::recv(question->server.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count < 0) return ask_next(question);  // no server answered
  reply(question, {buffer.data(), static_cast<std::size_t>(count)});
  end(question);
}

void DnsForwarder::end(Place question) {
  loop_.cancel(question->deadline);
  if (question->server.valid()) loop_.forget(question->server.get());
  questions_.erase(question);
}

void DnsForwarder::accept(int fd) {
  UniqueFd client(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client.valid()) return loop_.rest(fd, kRest);
  if (streams_.size() >= kMostForwardedStreams) return;
  const StreamPlace stream = streams_.insert(streams_.end(), Stream{});
  stream->client = std::move(client);
  stream->servers = servers_last_first();
  connect_next(stream);
}

void DnsForwarder::connect_next(StreamPlace stream) {
  loop_.cancel(stream->deadline);
  if (stream->server.valid()) loop_.forget(stream->server.get());
  stream->server.reset();
  while (!stream->server.valid() && !stream->servers.empty()) {
    stream->server = connect_to(stream->servers.back(), SOCK_STREAM);
    stream->servers.pop_back();
  }
  if (!stream->server.valid()) return end_stream(stream);
  const Result<void> watched =
      loop_.watch(stream->server.get(), EPOLLOUT, [this, stream](std::uint32_t events) {
        (events & EPOLLERR) != 0 ? connect_next(stream) : relay(stream);
      });
  if (!watched) return end_stream(stream);
  stream->deadline = loop_.after(kAnswerTime, [this, stream] { connect_next(stream); });
}

void DnsForwarder::relay(StreamPlace stream) {
  loop_.cancel(stream->deadline);
  loop_.forget(stream->server.get());
  stream->relay = std::make_unique<Relay>(
      loop_, pipes_, Relay::Sockets{std::move(stream->client), std::move(stream->server)}, "",
      [this, stream](const Relayed&) { loop_.post([this, stream] { end_stream(stream); }); });
  if (const Result<void> started = stream->relay->start(); !started) end_stream(stream);
}

void DnsForwarder::end_stream(StreamPlace stream) {
  loop_.cancel(stream->deadline);
  stream->relay.reset();
  if (stream->server.valid()) loop_.forget(stream->server.get());
  streams_.erase(stream);
}

std::vector<std::string> DnsForwarder::servers_last_first() const {
  std::vector<std::string> servers = servers_();
  std::ranges::reverse(servers);
  return servers;
}

}  // namespace coop::egress
