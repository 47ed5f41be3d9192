// One query to the name servers outside, until one of them answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "egress/dns/message.h"
#include "sys/event_loop.h"

namespace coop::egress {

struct NameServers {
  std::vector<std::string> addresses{};
  std::uint16_t port = 53;
};

// Each server has one second, then the next is asked; two seconds in the next round, and so on, ten
// seconds in all. A server that answers SERVFAIL or REFUSED is not asked again.
class DnsAsk {
 public:
  // Found, no_such_name or failed. Called once; may destroy the query.
  using Done = std::function<void(const DnsReply& reply)>;

  DnsAsk(EventLoop& loop, NameServers servers, std::string name, std::uint16_t type, Done done);
  DnsAsk(const DnsAsk&) = delete;
  DnsAsk& operator=(const DnsAsk&) = delete;
  ~DnsAsk();

  void start();                                            // may finish before it returns
  const std::string& problem() const { return problem_; }  // why it failed

 private:
  using Clock = std::chrono::steady_clock;
  void ask_next();
  void ask_again_by_tcp();
  Result<void> open(int type);
  void receive_datagrams();
  void send_by_tcp();
  void receive_by_tcp();
  void judge(const DnsReply& reply);
  void give_up_server(const std::string& why);
  void end(const DnsReply& reply);
  void forget();

  EventLoop& loop_;
  NameServers servers_;
  DnsAsked asked_;
  Done done_;
  Clock::time_point deadline_{};
  std::size_t turn_ = 0;     // position in the rotation over the servers
  std::size_t current_ = 0;  // the server being asked
  int round_ = 0;
  std::vector<bool> gone_{};  // servers not to ask again
  UniqueFd socket_{};
  std::string received_{};  // over TCP
  EventLoop::Timer timer_{};
  std::string problem_{"no name server answered"};
};

}  // namespace coop::egress
