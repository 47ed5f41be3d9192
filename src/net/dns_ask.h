// One question to the name servers outside, until one of them answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "net/dns_reply.h"
#include "net/event_loop.h"

namespace coop::net {

struct NameServers {
  std::vector<std::string> addresses{};
  std::uint16_t port = 53;
};

// Each server has a second, then the next is asked; a round later two, and so on, ten seconds in all. One that says
// that it cannot say is not asked again.
class DnsAsk {
 public:
  // Found, no_such_name or failed. Called once, and it may destroy the asking.
  using Done = std::function<void(const DnsReply& reply)>;

  DnsAsk(EventLoop& loop, NameServers servers, std::string name, std::uint16_t type, Done done);
  DnsAsk(const DnsAsk&) = delete;
  DnsAsk& operator=(const DnsAsk&) = delete;
  ~DnsAsk();

  void start();                                            // may be done at once
  const std::string& problem() const { return problem_; }  // of one that failed

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
  std::size_t turn_ = 0;     // servers in turn
  std::size_t current_ = 0;  // the one that is asked
  int round_ = 0;
  std::vector<bool> gone_{};  // servers that need not be asked again
  UniqueFd socket_{};
  std::string received_{};  // by TCP
  std::optional<EventLoop::Timer> timer_{};
  std::string problem_{"no name server answered"};
};

}  // namespace coop::net
