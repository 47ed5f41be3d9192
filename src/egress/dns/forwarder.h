// DNS where the network is open: forwards queries unchanged to the host's name servers, and their
// answers back.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egress/relay.h"
#include "sys/event_loop.h"

namespace coop::egress {

class DnsForwarder {
 public:
  using Servers = std::function<std::vector<std::string>()>;  // as in resolv.conf(5)
  // The first server that answers is used. The loop outlives it.
  DnsForwarder(EventLoop& loop, Servers servers, std::uint16_t port = 53);
  DnsForwarder(const DnsForwarder&) = delete;
  DnsForwarder& operator=(const DnsForwarder&) = delete;
  ~DnsForwarder();

  Result<void> serve_udp(UniqueFd socket);
  Result<void> serve_tcp(UniqueFd listener);

 private:
  struct Question {
    int asked_on = -1;
    std::string asker{};  // a socket address
    std::string message{};
    UniqueFd server{};
    std::vector<std::string> servers{};  // not asked yet, the next one last
    EventLoop::Timer deadline{};
  };
  struct Stream {
    UniqueFd client{};
    UniqueFd server{};
    std::vector<std::string> servers{};
    EventLoop::Timer deadline{};
    std::unique_ptr<Relay> relay{};
  };
  using Place = std::list<Question>::iterator;
  using StreamPlace = std::list<Stream>::iterator;
  void datagram(int fd);
  void ask_next(Place question);
  void answered(Place question);
  static void reply(Place question, std::string_view answer);
  void end(Place question);
  void accept(int fd);
  void connect_next(StreamPlace stream);
  void relay(StreamPlace stream);
  void end_stream(StreamPlace stream);
  std::vector<std::string> servers_last_first() const;
  UniqueFd connect_to(const std::string& server, int type) const;

  EventLoop& loop_;
  Servers servers_;
  std::uint16_t port_;
  PipePool pipes_{};
  std::vector<UniqueFd> sockets_{};
  std::list<Question> questions_{};
  std::list<Stream> streams_{};
};

}  // namespace coop::egress
