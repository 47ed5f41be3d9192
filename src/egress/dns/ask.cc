#include "egress/dns/ask.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "egress/dns/resolver_config.h"

namespace coop::egress {

namespace {

using Kind = DnsReply::Kind;

constexpr std::chrono::milliseconds kFirstWait{1000};
constexpr std::chrono::milliseconds kLongest{10000};
constexpr int kMostForged = 32;  // datagrams per turn of the loop

}  // namespace

DnsAsk::DnsAsk(EventLoop& loop, NameServers servers, std::string name, std::uint16_t type,
               Done done)
    : loop_(loop),
      servers_(std::move(servers)),
      asked_{.name = std::move(name), .type = type},
      done_(std::move(done)),
      gone_(servers_.addresses.size()) {}

DnsAsk::~DnsAsk() { forget(); }

void DnsAsk::start() {
  deadline_ = Clock::now() + kLongest;
  ask_next();
}

void DnsAsk::ask_next() {
  forget();
  while (std::ranges::find(gone_, false) != gone_.end()) {
    if (turn_ == gone_.size()) {
      turn_ = 0;
      ++round_;
    }
    current_ = turn_++;
    if (gone_[current_]) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (left <= left.zero()) break;
    // A new random id for each attempt: an attacker who guesses it can forge the answer.
    if (::getrandom(&asked_.id, sizeof asked_.id, 0) != sizeof asked_.id) break;
    if (const Result<void> opened = open(SOCK_DGRAM); !opened) {
      problem_ = "name server " + servers_.addresses[current_] + ": " + to_text(opened.error());
      gone_[current_] = true;
      continue;
    }
    const std::string query = dns_query(asked_);
    // A failed send counts as a lost datagram: the next attempt follows.
    ::send(socket_.get(), query.data(), query.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    timer_ = loop_.after(std::min(kFirstWait * (1 << std::min(round_, 4)), left),
                         [this] { ask_next(); });
    return;
  }
  end({.kind = Kind::failed});
}

Result<void> DnsAsk::open(int type) {
  socket_ = TRY(connect_to_server(servers_.addresses[current_], servers_.port, type));
  const bool datagrams = type == SOCK_DGRAM;
  return loop_.watch(socket_.get(), datagrams ? EPOLLIN : EPOLLOUT,
                     [this, datagrams](std::uint32_t events) {
                       if (datagrams) return receive_datagrams();
                       if ((events & EPOLLIN) != 0) return receive_by_tcp();
                       send_by_tcp();
                     });
}

void DnsAsk::receive_datagrams() {
  std::array<char, 4096> buffer;
  for (int count = 0; count < kMostForged; ++count) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) return give_up_server(errno_text(errno));
    const DnsReply reply = read_dns_reply({buffer.data(), static_cast<std::size_t>(size)}, asked_);
    // Ignore answers that do not match: a forged one must not keep us from receiving the real one.
    if (reply.kind != Kind::other) return judge(reply);
  }
}

void DnsAsk::ask_again_by_tcp() {
  loop_.forget(socket_.get());
  received_.clear();
  // The timeout of this attempt keeps running.
  if (const Result<void> opened = open(SOCK_STREAM); !opened)
    give_up_server(to_text(opened.error()));
}

void DnsAsk::send_by_tcp() {
  const std::string framed = dns_frame(dns_query(asked_));
  // A new connection has room in its send buffer; a failed connect() is reported here.
  const ssize_t sent = ::send(socket_.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(framed.size()))
    return give_up_server(sent < 0 ? errno_text(errno) : "it accepts no query");
  loop_.change(socket_.get(), EPOLLIN);
}

void DnsAsk::receive_by_tcp() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0)
    return give_up_server(size < 0 ? errno_text(errno)
                                   : "it closed the connection before its answer");
  received_.append(buffer.data(), static_cast<std::size_t>(size));
  const std::optional<std::string_view> message = first_dns_frame(received_);
  if (!message) return;
  DnsReply reply = read_dns_reply(*message, asked_);
  if (reply.kind == Kind::truncated || reply.kind == Kind::other) reply.kind = Kind::broken;
  judge(reply);
}

void DnsAsk::judge(const DnsReply& reply) {
  switch (reply.kind) {
    case Kind::found:
    case Kind::no_such_name: return end(reply);
    case Kind::truncated: return ask_again_by_tcp();
    case Kind::failed: return give_up_server("it answered with an error");
    case Kind::other:
    case Kind::broken: return give_up_server("its answer is malformed");
  }
}

void DnsAsk::give_up_server(const std::string& why) {
  problem_ = "name server " + servers_.addresses[current_] + ": " + why;
  gone_[current_] = true;
  ask_next();
}

void DnsAsk::end(const DnsReply& reply) {
  forget();
  const Done done = std::exchange(done_, {});
  if (done) done(reply);  // may have destroyed this
}

void DnsAsk::forget() {
  loop_.cancel(timer_);
  loop_.forget(socket_.get());
  socket_.reset();
}

}  // namespace coop::egress
