#include "egress/outbound.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/address.h"

namespace coop::egress {

namespace {

Reached reached_by(int error) {
  if (error == ECONNREFUSED) return Reached::refused_by_host;
  return error == ETIMEDOUT ? Reached::timed_out : Reached::unreachable;
}

// An idle connection may stay open for ever, but not with a host that is gone.
void set_options(const UniqueFd& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

std::optional<Destination> destination_of(HostKind kind, const std::string& host,
                                          std::uint16_t port) {
  if (kind == HostKind::name) return policy::name_destination(host, port);
  const std::optional<std::string> bytes = address_bytes(host);
  if (!bytes) return std::nullopt;
  return policy::address_destination(*bytes, port);
}

Outbound::Outbound(EventLoop& loop, const policy::DestinationRules& rules,
                   const OutboundOptions& options, NetworkEvent& event, Done done)
    : loop_(loop), rules_(rules), options_(options), event_(event), done_(std::move(done)) {}

Outbound::~Outbound() {
  loop_.cancel(deadline_);
  if (server_.valid()) loop_.forget(server_.get());
}

void Outbound::go(HostKind kind) {
  const std::optional<Destination> asked = destination_of(kind, event_.host, event_.port);
  // One that stands for no name yet may do so at the next look-up: no rule opens it.
  const bool judged = asked && !policy::stands_for_names(*asked);
  const policy::Verdict verdict =
      judged ? policy::judge(rules_, *asked, options_.guard) : policy::Verdict{};
  event_.allowed = verdict.allowed();
  event_.rule = rule_of(verdict);
  if (!event_.allowed) return refuse(verdict, asked.value_or(Destination{}));
  if (kind == HostKind::address) return go_to({event_.host});
  give_up_ = std::chrono::steady_clock::now() + options_.time_of_all;
  set_deadline(options_.time_of_all);
  options_.look_up(event_.host, [self = weak_from_this()](OutboundOptions::Addresses addresses) {
    if (const auto alive = self.lock()) alive->found(std::move(addresses));
  });
}

void Outbound::refuse(const policy::Verdict& verdict, const Destination& asked) {
  event_.allowed = false;
  event_.rule = rule_of(verdict);
  event_.grant = policy::grant_for(verdict.remedy, asked);
  if (verdict.reason == policy::Reason::guarded)
    event_.problem = host_text(asked) + " is " + std::string(verdict.address_is);
  done(Reached::refused);
}

void Outbound::found(OutboundOptions::Addresses addresses) {
  if (!done_) return;  // too late
  if (!addresses) {
    event_.problem = to_text(addresses.error());
    return done(reached_by(addresses.error().errno_value));
  }
  // One forbidden address refuses the name: an attacker returns both and hopes for the wrong one.
  for (const std::string& address : *addresses) {
    const std::optional<Destination> asked =
        destination_of(HostKind::address, address, event_.port);
    const policy::Verdict verdict =
        asked ? policy::judge_found(rules_, *asked, options_.guard) : policy::Verdict{};
    if (verdict.allowed()) continue;
    if (verdict.reason == policy::Reason::denied) event_.problem = address + " is denied";
    return refuse(verdict, asked.value_or(Destination{}));
  }
  go_to(std::move(*addresses));
}

void Outbound::go_to(std::vector<std::string> addresses) {
  if (give_up_ == std::chrono::steady_clock::time_point{})
    give_up_ = std::chrono::steady_clock::now() + options_.time_of_all;
  addresses_ = std::move(addresses);
  event_.problem = "it has no address";
  connect_next();
}

void Outbound::connect_next() {
  for (; next_ < addresses_.size(); ++next_) {
    if (server_.valid()) loop_.forget(server_.get());
    event_.address = addresses_[next_];
    sockaddr_storage storage{};
    const socklen_t size = fill_socket_address(
        storage, address_bytes(event_.address).value_or(std::string()), event_.port);
    if (size == 0) continue;
    server_.reset(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const bool made = server_.valid();
    if (made) set_options(server_);
    if (made && ::connect(server_.get(), reinterpret_cast<const sockaddr*>(&storage), size) == 0)
      return done(Reached::connected);
    const int error = errno;
    if (made && error == EINPROGRESS) break;
    event_.problem = errno_text(error);
    last_ = reached_by(error);
  }
  if (next_ >= addresses_.size()) return done(last_);
  ++next_;
  const Result<void> watched =
      loop_.watch(server_.get(), EPOLLOUT, [this](std::uint32_t) { connected(); });
  if (!watched) {
    event_.problem = to_text(watched.error());
    return done(Reached::unreachable);
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(give_up_ - std::chrono::steady_clock::now());
  set_deadline(std::min(options_.time_of_one, left));
}

void Outbound::connected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return done(Reached::connected);
  event_.problem = errno_text(error);
  last_ = reached_by(error);
  connect_next();
}

void Outbound::late() {
  event_.problem = errno_text(ETIMEDOUT);
  last_ = Reached::timed_out;
  if (std::chrono::steady_clock::now() >= give_up_) return done(Reached::timed_out);
  connect_next();
}

void Outbound::set_deadline(std::chrono::milliseconds time) {
  loop_.cancel(deadline_);
  deadline_ = loop_.after(time, [this] { late(); });
}

// Touches no member after the call: it may have destroyed us.
void Outbound::done(Reached reached) {
  loop_.cancel(deadline_);
  if (reached == Reached::connected) event_.problem.clear();
  if (server_.valid()) loop_.forget(server_.get());
  UniqueFd server = reached == Reached::connected ? std::move(server_) : UniqueFd();
  const Done call = std::exchange(done_, nullptr);
  if (call) call(reached, std::move(server));
}

}  // namespace coop::egress
