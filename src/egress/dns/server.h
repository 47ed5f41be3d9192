// Sockets of a DNS server, opened inside a sandbox and served from outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sys/event_loop.h"

namespace coop::egress {

class DnsServer {
 public:
  explicit DnsServer(EventLoop& loop) : loop_(loop) {}  // the loop outlives it
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;
  virtual ~DnsServer();

  Result<void> serve_udp(UniqueFd socket);
  Result<void> serve_tcp(UniqueFd listener);

 protected:
  struct Client {
    int socket = -1;        // of ours, that its message came to
    std::string address{};  // a socket address
    // A client that misses an answer asks again.
    void tell(std::string_view answer) const;
  };
  virtual void asked(Client client, std::string_view message) = 0;
  virtual void connected(UniqueFd client) = 0;  // non-blocking

  EventLoop& loop_;

 private:
  void receive(int socket);

  std::vector<UniqueFd> sockets_{};
};

}  // namespace coop::egress
