#include "egress/dns/forwarder.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "egress/dns/message.h"
#include "egress/dns/resolver_config.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostForwarded = 256;
constexpr std::size_t kMostForwardedStreams = 64;
constexpr std::chrono::seconds kAnswerTime{3};
// For a client to send a message, and to take an answer.
constexpr std::chrono::seconds kClientTime{10};

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
  if (!is_plain_query(message)) return client.tell(dns_failure(message, DnsCode::refused));
  if (questions_.size() >= kMostForwarded) return;
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
  const auto ready = [this, stream](std::uint32_t events) { client_ready(stream, events); };
  if (!loop_.watch(stream->client.get(), EPOLLIN, ready)) return end_stream(stream);
  wait_for_client(stream, EPOLLIN);
}

void DnsForwarder::wait_for_client(StreamPlace stream, std::uint32_t events) {
  loop_.cancel(stream->patience);
  stream->patience = loop_.after(kClientTime, [this, stream] { end_stream(stream); });
  loop_.change(stream->client.get(), events);
}

void DnsForwarder::client_ready(StreamPlace stream, std::uint32_t events) {
  // A client that has only stopped sending is not among these.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return end_stream(stream);
  (events & EPOLLOUT) != 0 ? tell(stream) : receive(stream);
}

void DnsForwarder::receive(StreamPlace stream) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::recv(stream->client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return end_stream(stream);
  stream->received.append(buffer.data(), static_cast<std::size_t>(size));
  if (first_dns_frame(stream->received)) next_message(stream);
}

void DnsForwarder::next_message(StreamPlace stream) {
  const std::optional<std::string_view> message = first_dns_frame(stream->received);
  if (!message) return wait_for_client(stream, EPOLLIN);
  if (!is_plain_query(*message)) return end_stream(stream);
  // Nothing is read from the client until it has the answer, so what it sends stays bounded.
  loop_.cancel(stream->patience);
  loop_.change(stream->client.get(), 0);
  stream->servers = servers_last_first();
  ask_next(stream);
}

void DnsForwarder::ask_next(StreamPlace stream) {
  stream->unsent = stream->received.substr(0, 2 + first_dns_frame(stream->received)->size());
  stream->answer.clear();
  if (!next_server(
          *stream, SOCK_STREAM, [this, stream](std::uint32_t) { server_ready(stream); },
          [this, stream] { ask_next(stream); }))
    end_stream(stream);
}

void DnsForwarder::send_question(StreamPlace stream) {
  std::string& unsent = stream->unsent;
  const int server = stream->server.get();
  const ssize_t sent = ::send(server, unsent.data(), unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) return ask_next(stream);  // a failed connect() is reported here
  unsent.erase(0, static_cast<std::size_t>(sent));
  if (unsent.empty()) loop_.change(server, EPOLLIN);
}

void DnsForwarder::server_ready(StreamPlace stream) {
  if (!stream->unsent.empty()) return send_question(stream);
  std::array<char, 16384> buffer;
  const ssize_t size = ::recv(stream->server.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return ask_next(stream);
  stream->answer.append(buffer.data(), static_cast<std::size_t>(size));
  const std::optional<std::string_view> message = first_dns_frame(stream->answer);
  if (!message) return;
  stream->answer.resize(2 + message->size());  // one answer to one question
  leave_server(*stream);
  stream->received.erase(0, 2 + first_dns_frame(stream->received)->size());
  wait_for_client(stream, EPOLLOUT);
}

void DnsForwarder::tell(StreamPlace stream) {
  std::string& answer = stream->answer;
  const ssize_t sent =
      ::send(stream->client.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) return end_stream(stream);
  answer.erase(0, static_cast<std::size_t>(sent));
  if (answer.empty()) next_message(stream);
}

void DnsForwarder::end_stream(StreamPlace stream) {
  leave_server(*stream);
  loop_.cancel(stream->patience);
  loop_.forget(stream->client.get());
  streams_.erase(stream);
}

}  // namespace coop::egress
