#include "net/outbound.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/address.h"

namespace coop::net {

namespace {

Reached reached_by(int error) {
  if (error == ECONNREFUSED) return Reached::refused_by_host;
  return error == ETIMEDOUT ? Reached::timed_out : Reached::unreachable;
}

// A connection at rest may rest for ever, but not with a host that is gone.
void set_options(const UniqueFd& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Outbound::Outbound(EventLoop& loop, const HostRules& rules, const OutboundOptions& options,
                   NetworkEvent& event, Done done)
    : loop_(loop), rules_(rules), options_(options), event_(event), done_(std::move(done)) {}

Outbound::~Outbound() {
  loop_.cancel(deadline_);
  if (server_.valid()) loop_.forget(server_.get());
}

void Outbound::go(HostKind kind) {
  HostVerdict verdict = judge(rules_, event_.host, event_.port);
  event_.allowed = verdict.allowed;
  event_.rule = std::move(verdict.rule);
  event_.grant = std::move(verdict.grant);
  if (!event_.allowed) return done(Reached::refused);
  if (kind == HostKind::address) return found(std::vector{event_.host});
  give_up_ = std::chrono::steady_clock::now() + options_.time_of_all;
  set_deadline(options_.time_of_all);
  options_.look_up(event_.host, [self = weak_from_this()](OutboundOptions::Addresses addresses) {
    if (const auto alive = self.lock()) alive->found(std::move(addresses));
  });
}

void Outbound::found(OutboundOptions::Addresses addresses) {
  if (!done_) return;  // too late
  if (!addresses) {
    event_.problem = to_text(addresses.error());
    return done(reached_by(addresses.error().errno_value));
  }
  for (const std::string& address : *addresses) {
    const HostVerdict verdict = judge(rules_, address, event_.port);
    const bool denied = verdict.denied;
    const std::string reason = denied ? "denied" : options_.why_forbidden(address);
    // A rule that names the address itself is somebody's express wish.
    if (reason.empty() || (!denied && opens_forbidden(rules_, address, event_.port))) continue;
    // One bad address refuses the name: who answers with both hopes that we try the wrong one.
    event_.allowed = false;
    event_.rule = denied ? verdict.rule : "address guard";
    event_.grant = denied ? "" : grant_for(address, event_.port);
    event_.problem = address + " is " + reason;
    return done(Reached::refused);
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

// Touches nothing of ours after the call: it may have been the end of us.
void Outbound::done(Reached reached) {
  loop_.cancel(deadline_);
  if (reached == Reached::connected) event_.problem.clear();
  if (server_.valid()) loop_.forget(server_.get());
  UniqueFd server = reached == Reached::connected ? std::move(server_) : UniqueFd();
  const Done call = std::exchange(done_, nullptr);
  if (call) call(reached, std::move(server));
}

}  // namespace coop::net
