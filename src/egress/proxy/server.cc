#include "egress/proxy/server.h"

#include <sys/epoll.h>

#include <utility>

#include "egress/proxy/response.h"
#include "egress/proxy/socks5.h"
#include "egress/refusal.h"

namespace coop::egress {

namespace {

constexpr char kSocksVersion = 5;
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

SocksReply reply_for(Reached reached) {
  switch (reached) {
    case Reached::connected: return SocksReply::succeeded;
    case Reached::refused: return SocksReply::not_allowed;
    case Reached::refused_by_host: return SocksReply::connection_refused;
    case Reached::unreachable:
    case Reached::timed_out: return SocksReply::host_unreachable;
  }
  return SocksReply::general_failure;
}

}  // namespace

void ProxyConnection::start() {
  when_late(egress_.options().head_time, [this] { end(Closing::clean); });
  when_ready(client_, EPOLLIN, [this] { hear_request(); });
}

void ProxyConnection::hear_request() {
  const Heard heard = hear();
  if (heard == Heard::the_end) return end(Closing::clean);
  if (heard == Heard::something) read_request();
}

void ProxyConnection::read_request() {
  if (speech_ == Speech::unknown && first_.front() == kSocksVersion) speech_ = Speech::socks;
  speech_ == Speech::socks ? read_socks() : read_http();
}

void ProxyConnection::read_socks() {
  if (!greeted_) {
    const SocksGreeting greeting = read_socks_greeting(first_);
    if (greeting.state == Arrived::need_more) return;
    if (greeting.state == Arrived::bad) return bad_request("it is not SOCKS5", "");
    if (!greeting.without_password)
      return bad_request("it offers only authentication by password", socks_method(greeting));
    if (!pass(client_, socks_method(greeting))) return end(Closing::clean);
    first_.erase(0, greeting.size);
    greeted_ = true;
  }
  SocksRequest request = read_socks_request(first_);
  if (request.state == Arrived::need_more) return;
  if (request.state == Arrived::bad)
    return bad_request("the SOCKS request is not one for a connection to a host",
                       socks_reply(request.problem));
  first_.erase(0, request.size);
  go_where_asked(std::move(request.target));
}

void ProxyConnection::read_http() {
  ProxyRequest request = read_proxy_request(first_);
  switch (request.kind) {
    case ProxyRequest::Kind::need_more: return;
    case ProxyRequest::Kind::bad:
      return bad_request(request.problem, http_bad_request(request.problem));
    case ProxyRequest::Kind::connect:
      speech_ = Speech::connect;
      first_.erase(0, request.size);
      break;
    case ProxyRequest::Kind::forward:
      speech_ = Speech::forward;
      first_.replace(0, request.size, request.head);
      break;
  }
  go_where_asked(std::move(request.target));
}

void ProxyConnection::go_where_asked(Target target) {
  in_time();
  // Input from the client waits; EPOLLHUP is reported in any case.
  when_ready(client_, 0, [this] {
    event_.problem = "the client closed the connection";
    end(Closing::reset);
  });
  if (target.kind == HostKind::address)
    target = target_of_text(egress_.table(), target.host, target.port);
  if (!is_loopback(target)) return go(std::move(target));
  // The loopback meant here is the sandbox's, not ours.
  event_.host = std::move(target.host);
  event_.port = target.port;
  refuse(Part::loopback_guard, "it is inside the sandbox, and reached without a proxy");
  not_connected(Reached::refused);
}

void ProxyConnection::bad_request(std::string problem, std::string_view reply) {
  refuse(Part::proxy_guard, std::move(problem));
  answer(reply);
}

void ProxyConnection::connected() {
  if (speech_ == Speech::forward)
    return relay([](std::string& bytes, std::string& out) {
      return pass_response_head(bytes, out) == HeadState::passed;
    });
  const std::string reply = socks_reply(SocksReply::succeeded);
  if (!pass(client_, speech_ == Speech::connect ? kEstablished : std::string_view(reply)))
    return end(Closing::reset);
  inspect();
}

void ProxyConnection::not_connected(Reached why) {
  answer(speech_ == Speech::socks ? socks_reply(reply_for(why)) : http_refusal(event_, why));
}

}  // namespace coop::egress
