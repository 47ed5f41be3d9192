// Names where the network is open: questions go to the host's name servers as they are, and their answers come back.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/relay.h"

namespace coop::net {

class DnsForwarder {
 public:
  // `servers` as inet_ntop() writes them, the first that answers counts. The loop outlives it.
  DnsForwarder(EventLoop& loop, std::vector<std::string> servers, std::uint16_t port = 53);
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
    std::size_t next = 0;
    EventLoop::Timer deadline{};
  };
  struct Stream {
    UniqueFd client{};
    UniqueFd server{};
    std::unique_ptr<Relay> relay{};
  };
  using Place = std::list<Question>::iterator;
  void datagram(int fd);
  void ask_next(Place question);
  void answered(Place question);
  void end(Place question);
  void accept(int fd);
  void end_stream(std::list<Stream>::iterator stream);
  UniqueFd connect_to(const std::string& server, int type) const;

  EventLoop& loop_;
  std::vector<std::string> servers_;
  std::uint16_t port_;
  PipePool pipes_{};
  std::vector<UniqueFd> sockets_{};
  std::list<Question> questions_{};
  std::list<Stream> streams_{};
};

}  // namespace coop::net
