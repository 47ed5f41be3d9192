#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "net/client_hello.h"

namespace coop::net {

namespace {

constexpr std::uint32_t kMostDrained = 256U << 10U;
constexpr std::string_view kTlsGuard = "TLS guard";

}  // namespace

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
                                      // Kept until all of its callers have returned.
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
  // Who speaks first tells what it is: a client of TLS does, a server of SSH does. Until one of them does, they may rest.
  when_ready(client_, EPOLLIN, [this] { read_hello(); });
  when_ready(server_, EPOLLIN, [this] {
    if (first_.empty()) return relay();
    // A server of TLS says nothing before it has a whole hello.
    refuse(kTlsGuard, "the hello of its TLS is not whole");
    end(Closing::reset);
  });
  if (!first_.empty()) judge_hello();
}

void Connection::read_hello() {
  const Heard heard = hear();
  if (heard == Heard::nothing_yet) return;
  if (heard == Heard::the_end) return relay();  // it has nothing more to say, and may listen
  judge_hello();
}

void Connection::judge_hello() {
  const ClientHello hello = read_client_hello(first_);
  switch (hello.kind) {
    case ClientHello::Kind::need_more:
      return when_late(egress_.options().head_time, [this] {
        refuse(kTlsGuard, "the hello of its TLS is not whole");
        end(Closing::reset);
      });
    case ClientHello::Kind::not_tls:
    case ClientHello::Kind::no_name: return relay();
    case ClientHello::Kind::malformed:
      refuse(kTlsGuard, "the hello of its TLS is malformed");
      return end(Closing::reset);
    case ClientHello::Kind::named:
      if (hello.name == event_.host) return relay();
      refuse(kTlsGuard, "its TLS asks for " + hello.name);
      return end(Closing::reset);
  }
}

void Connection::relay() {
  in_time();
  relay_ = std::make_unique<Relay>(egress_.loop(), egress_.pipes(),
                                   Relay::Sockets{std::move(client_), std::move(server_)},
                                   std::exchange(first_, {}), [this](const Relayed&) {
                                     const auto alive = shared_from_this();
                                     end(Closing::clean);
                                   });
  if (const Result<void> started = relay_->start(); !started) fail(started.error());
}

void Connection::refuse(std::string_view rule, std::string why) {
  event_.allowed = false;
  event_.rule = rule;
  event_.problem = std::move(why);
}

void Connection::fail(const Error& error) {
  event_.problem = to_text(error);
  end(Closing::reset);
}

void Connection::answer(std::string_view bytes) {
  record();
  // It is small and the first that is sent: it fits.
  ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
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
  if (egress_.options().record) egress_.options().record(event_);
}

void Connection::end(Closing closing) {
  if (std::exchange(ended_, true)) return;
  forget();
  if (closing == Closing::reset && client_.valid()) reset_on_close(client_);
  record();
  egress_.forget(shared_from_this());
}

}  // namespace coop::net
