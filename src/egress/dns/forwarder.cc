#include "egress/dns/forwarder.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "egress/dns/message.h"
#include "egress/dns/resolver_config.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostForwarded = 256;
constexpr std::size_t kMostForwardedStreams = 64;
constexpr std::chrono::seconds kAnswerTime{3};

}  // namespace

DnsForwarder::DnsForwarder(EventLoop& loop, Servers servers, std::uint16_t port)
    : DnsServer(loop), servers_(std::move(servers)), port_(port) {}

DnsForwarder::~DnsForwarder() {
  while (!questions_.empty()) end(questions_.begin());
  while (!streams_.empty()) end_stream(streams_.begin());
}

std::vector<std::string> DnsForwarder::servers_last_first() const {
  std::vector<std::string> servers = servers_();
  std::ranges::reverse(servers);
  return servers;
}

bool DnsForwarder::next_server(Attempt& attempt, int type, const EventLoop::Ready& ready,
                               const EventLoop::Task& late) {
  leave_server(attempt);
  while (!attempt.servers.empty()) {
    Result<UniqueFd> server = connect_to_server(attempt.servers.back(), port_, type);
    attempt.servers.pop_back();
    if (!server || !loop_.watch(server->get(), type == SOCK_DGRAM ? EPOLLIN : EPOLLOUT, ready))
      continue;
    attempt.server = std::move(*server);
    attempt.deadline = loop_.after(kAnswerTime, late);
    return true;
  }
  return false;
}

void DnsForwarder::leave_server(Attempt& attempt) {
  loop_.cancel(attempt.deadline);
  if (attempt.server.valid()) loop_.forget(attempt.server.get());
  attempt.server.reset();
}

void DnsForwarder::asked(Client client, std::string_view message) {
  if (message.empty() || questions_.size() >= kMostForwarded) return;
  const Place question = questions_.insert(questions_.end(), Question{});
  question->client = std::move(client);
  question->message = message;
  question->servers = servers_last_first();
  ask_next(question);
}

void DnsForwarder::ask_next(Place question) {
  const std::string& message = question->message;
  while (next_server(
      *question, SOCK_DGRAM, [this, question](std::uint32_t) { answered(question); },
      [this, question] { ask_next(question); }))
    if (::send(question->server.get(), message.data(), message.size(), MSG_NOSIGNAL) >= 0) return;
  // Answer SERVFAIL: otherwise the client would time out and retry.
  const Result<DnsQuestion> asked = parse_question(message);
  question->client.tell(asked ? dns_answer(*asked, DnsCode::server_failure)
                              : dns_failure(message, DnsCode::server_failure));
  end(question);
}

void DnsForwarder::answered(Place question) {
  std::array<char, 65535> buffer;
  const ssize_t count = ::recv(question->server.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count < 0) return ask_next(question);  // no server answered
  question->client.tell({buffer.data(), static_cast<std::size_t>(count)});
  end(question);
}

void DnsForwarder::end(Place question) {
  leave_server(*question);
  questions_.erase(question);
}

void DnsForwarder::connected(UniqueFd client) {
  if (streams_.size() >= kMostForwardedStreams) return;
  const StreamPlace stream = streams_.insert(streams_.end(), Stream{});
  stream->client = std::move(client);
  stream->servers = servers_last_first();
  connect_next(stream);
}

void DnsForwarder::connect_next(StreamPlace stream) {
  const auto ready = [this, stream](std::uint32_t events) {
    (events & EPOLLERR) != 0 ? connect_next(stream) : relay(stream);
  };
  if (!next_server(*stream, SOCK_STREAM, ready, [this, stream] { connect_next(stream); }))
    end_stream(stream);
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
  leave_server(*stream);
  streams_.erase(stream);
}

}  // namespace coop::egress
