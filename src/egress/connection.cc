#include "egress/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace coop::egress {

namespace {

constexpr std::uint32_t kMostDrained = 256U << 10U;
constexpr char kHandshakeRecord = 22;

// Sets SO_RCVLOWAT: how many bytes make the socket readable.
void wake_from(const UniqueFd& socket, std::size_t bytes) {
  const int least = static_cast<int>(bytes);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

}  // namespace

bool Connection::pass(const UniqueFd& socket, std::string_view bytes) {
  errno = EMSGSIZE;  // a partial send
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

Connection::Connection(Egress& egress, Admission::Slot slot, UniqueFd client)
    : egress_(egress), client_(std::move(client)), slot_(std::move(slot)) {}

Connection::~Connection() { forget(); }

void Connection::forget() {
  egress_.loop().cancel(deadline_);
  if (client_.valid()) egress_.loop().forget(client_.get());
  if (server_.valid()) egress_.loop().forget(server_.get());
}

std::shared_ptr<Outbound> Connection::new_outbound() {
  return std::make_shared<Outbound>(egress_.loop(), egress_.rules(), egress_.options().outbound,
                                    event_, [this](Reached reached, UniqueFd server) {
                                      const auto alive = shared_from_this();
                                      // Keep it alive until all its callers have returned.
                                      const auto outbound = std::exchange(outbound_, nullptr);
                                      if (ended_) return;
                                      server_ = std::move(server);
                                      if (reached == Reached::connected) return connected();
                                      not_connected(reached);
                                    });
}

void Connection::go(Target target) {
  event_.host = std::move(target.host);
  event_.port = target.port;
  host_kind_ = target.kind;
  const auto outbound = outbound_ = new_outbound();
  outbound->go(host_kind_);
}

void Connection::go_to(std::vector<std::string> addresses) {
  const auto outbound = outbound_ = new_outbound();
  outbound->go_to(std::move(addresses));
}

Connection::Heard Connection::hear() {
  std::array<char, 4096> buffer;
  const ssize_t count = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::nothing_yet;
  if (count <= 0) return Heard::the_end;
  first_.append(buffer.data(), static_cast<std::size_t>(count));
  return Heard::something;
}

void Connection::inspect() {
  if (host_kind_ == HostKind::address) return relay();
  in_time();
  // Wait for either side: a TLS client sends first, an SSH server sends first. Until then both may
  // be idle.
  when_ready(client_, EPOLLIN, [this] { read_hello(); });
  when_ready(server_, EPOLLIN, [this] {
    if (first_.empty()) return relay();
    // A TLS server sends nothing before it has the whole ClientHello.
    refuse_tls("incomplete TLS ClientHello");
  });
  if (!first_.empty()) judge_hello();
}

void Connection::read_hello() {
  const Heard heard = hear();
  if (heard == Heard::nothing_yet) return;
  if (heard == Heard::the_end) return relay();  // half-closed: it may still receive
  judge_hello();
}

void Connection::judge_hello() {
  const ClientHello hello = read_client_hello(first_);
  switch (hello.kind) {
    case ClientHello::Kind::need_more:
      return when_late(egress_.options().head_time,
                       [this] { refuse_tls("incomplete TLS ClientHello"); });
    case ClientHello::Kind::not_tls: return relay();
    case ClientHello::Kind::malformed: return refuse_tls("malformed TLS ClientHello");
    case ClientHello::Kind::no_name: return pass_hello(hello);
    case ClientHello::Kind::named:
      if (hello.name == event_.host) return pass_hello(hello);
      return refuse_tls("the TLS ClientHello names " + hello.name);
  }
}

// Forward only the ClientHello until the server answers: a second one may already be in the buffer.
void Connection::pass_hello(const ClientHello& hello) {
  in_time();
  const std::string_view bytes = std::string_view(first_).substr(0, hello.size);
  if (!pass(server_, bytes)) return fail(system_error("send", "the hello").error());
  passed_to_server_ += bytes.size();
  first_.erase(0, hello.size);
  when_ready(client_, EPOLLRDHUP, [this] { judge_silence(); });
  when_ready(server_, EPOLLIN, [this] { judge_answer(); });
}

// The client has half-closed. If it has sent nothing more, no second ClientHello can follow, and
// the server may be waiting for the end of input.
void Connection::judge_silence() {
  char byte = 0;
  const ssize_t more = ::recv(client_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (more < 0) return end(Closing::reset);
  if (more == 0 && first_.empty()) return relay();
  when_ready(client_, 0, [this] { end(Closing::reset); });
}

void Connection::judge_answer() {
  std::array<char, 4096> buffer;
  const ssize_t seen =
      ::recv(server_.get(), buffer.data(), kServerHelloHead, MSG_PEEK | MSG_DONTWAIT);
  if (seen < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (seen > 0 && seen < static_cast<ssize_t>(kServerHelloHead) && buffer[0] == kHandshakeRecord &&
      !is_ready(server_.get(), POLLRDHUP)) {
    // The rest is in flight; wait for it.
    wake_from(server_, kServerHelloHead);
    return when_late(egress_.options().head_time,
                     [this] { refuse_tls("incomplete TLS ServerHello"); });
  }
  in_time();
  if (seen <= 0 || !asks_for_second_hello({buffer.data(), static_cast<std::size_t>(seen)}))
    return relay();
  const ssize_t count = ::recv(server_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  const std::string_view answer(buffer.data(),
                                static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (!pass(client_, answer)) return fail(system_error("send", "the answer").error());
  passed_to_client_ += answer.size();
  wake_from(server_, 1);
  when_ready(server_, 0, [this] { end(Closing::reset); });
  when_ready(client_, EPOLLIN, [this] {
    const Heard heard = hear();
    if (heard == Heard::the_end) return end(Closing::reset);
    if (heard == Heard::something) judge_second_hello();
  });
  when_late(egress_.options().head_time,
            [this] { refuse_tls("incomplete second TLS ClientHello"); });
  if (!first_.empty()) judge_second_hello();
}

void Connection::judge_second_hello() {
  const ClientHello hello = read_second_hello(first_);
  if (hello.kind == ClientHello::Kind::need_more) return;
  const bool same = hello.kind == ClientHello::Kind::no_name ||
                    (hello.kind == ClientHello::Kind::named && hello.name == event_.host);
  if (same) return relay();
  refuse_tls(hello.kind == ClientHello::Kind::named
                 ? "the second TLS ClientHello names " + hello.name
                 : "malformed second TLS ClientHello");
}

void Connection::relay(Relay::Rewrite rewrite_answer) {
  in_time();
  if (passed_to_server_ > 0) wake_from(server_, 1);
  relay_ = std::make_unique<Relay>(egress_.loop(), egress_.pipes(),
                                   Relay::Sockets{std::move(client_), std::move(server_)},
                                   std::exchange(first_, {}), [this](const Relayed&) {
                                     const auto alive = shared_from_this();
                                     end(Closing::clean);
                                   });
  if (rewrite_answer) relay_->rewrite_answer(std::move(rewrite_answer));
  if (const Result<void> started = relay_->start(); !started) fail(started.error());
}

void Connection::refuse(Part wall, std::string why) {
  event_.allowed = false;
  event_.rule = Rule::of_coop(wall);
  event_.problem = std::move(why);
}

void Connection::refuse_tls(std::string why) {
  refuse(Part::tls_guard, std::move(why));
  end(Closing::reset);
}

void Connection::fail(const Error& error) {
  event_.problem = to_text(error);
  end(Closing::reset);
}

void Connection::answer(std::string_view bytes) {
  record();
  pass(client_, bytes);
  ::shutdown(client_.get(), SHUT_WR);
  when_late(egress_.options().refused_time, [this] { end(Closing::clean); });
  when_ready(client_, EPOLLIN, [this] { drain(); });
}

void Connection::drain() {
  first_.clear();
  const Heard heard = hear();
  drained_ += static_cast<std::uint32_t>(first_.size());
  if (heard == Heard::the_end || drained_ > kMostDrained) end(Closing::clean);
}

void Connection::record() {
  const bool asked = !event_.host.empty() || !event_.problem.empty();
  if (std::exchange(recorded_, true) || !asked) return;
  if (relay_) {
    event_.sent = relay_->so_far().to_server;
    event_.received = relay_->so_far().to_client;
  }
  event_.sent += passed_to_server_;
  event_.received += passed_to_client_;
  if (egress_.options().record) egress_.options().record(event_);
}

void Connection::end(Closing closing) {
  if (std::exchange(ended_, true)) return;
  forget();
  if (closing == Closing::reset && client_.valid()) reset_on_close(client_);
  record();
  egress_.forget(shared_from_this());
}

}  // namespace coop::egress
