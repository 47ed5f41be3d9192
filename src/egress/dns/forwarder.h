// DNS where the network is open: forwards plain queries to the host's name servers, and their answers back. The network
// rules may refuse these servers to the sandbox, so nothing else reaches them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "egress/dns/server.h"

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
  // A connection of a client: one question at a time.
  struct Stream : Attempt {
    UniqueFd client{};
    EventLoop::Timer patience{};  // with the client
    std::string received{};       // from the client; the question being asked stays in front
    std::string unsent{};         // to the server
    std::string answer{};         // of the server, then what the client has not got of it
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
  void wait_for_client(StreamPlace stream, std::uint32_t events);
  void client_ready(StreamPlace stream, std::uint32_t events);
  void receive(StreamPlace stream);
  void tell(StreamPlace stream);
  void next_message(StreamPlace stream);
  void ask_next(StreamPlace stream);
  void server_ready(StreamPlace stream);
  void send_question(StreamPlace stream);
  void end_stream(StreamPlace stream);
  std::vector<std::string> servers_last_first() const;

  Servers servers_;
  std::uint16_t port_;
  std::list<Question> questions_{};
  std::list<Stream> streams_{};
};

}  // namespace coop::egress
