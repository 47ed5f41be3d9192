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

#include "egress/dns/server.h"
#include "egress/relay.h"

namespace coop::egress {

class DnsForwarder final : public DnsServer {
 public:
  using Servers = std::function<std::vector<std::string>()>;  // as in resolv.conf(5)
  // The first server that answers is used. The loop outlives it.
  DnsForwarder(EventLoop& loop, Servers servers, std::uint16_t port = 53);
  ~DnsForwarder() override;

 private:
  // One server after another, until one answers.
  struct Attempt {
    std::vector<std::string> servers{};  // not asked yet, the next one last
    UniqueFd server{};
    EventLoop::Timer deadline{};
  };
  struct Question : Attempt {
    Client client{};
    std::string message{};
  };
  struct Stream : Attempt {
    UniqueFd client{};
    std::unique_ptr<Relay> relay{};
  };
  using Place = std::list<Question>::iterator;
  using StreamPlace = std::list<Stream>::iterator;
  void asked(Client client, std::string_view message) override;
  void connected(UniqueFd client) override;
  // Connects to the next server with a socket of `type`; false when there is none left.
  bool next_server(Attempt& attempt, int type, const EventLoop::Ready& ready,
                   const EventLoop::Task& late);
  void leave_server(Attempt& attempt);
  void ask_next(Place question);
  void answered(Place question);
  void end(Place question);
  void connect_next(StreamPlace stream);
  void relay(StreamPlace stream);
  void end_stream(StreamPlace stream);
  std::vector<std::string> servers_last_first() const;

  Servers servers_;
  std::uint16_t port_;
  PipePool pipes_{};
  std::list<Question> questions_{};
  std::list<Stream> streams_{};
};

}  // namespace coop::egress
