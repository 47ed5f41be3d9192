// The name server of one sandbox, on sockets that were opened inside it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "net/event_loop.h"
#include "net/host_rules.h"
#include "net/name_table.h"

namespace coop::net {

struct DnsEvent {
  std::string name{};
  bool allowed = false;
  std::string rule{};  // why not
};

// Nothing is asked outside: an allowed name gets an address that stands for it, all others do not exist. What is told to
// the world by asking is told only when a connection is made.
class DnsService {
 public:
  using Record = std::function<void(const DnsEvent&)>;  // of each name once

  // All of these outlive the service.
  DnsService(EventLoop& loop, NameTable& table, const HostRules& rules, Record record);
  DnsService(const DnsService&) = delete;
  DnsService& operator=(const DnsService&) = delete;
  ~DnsService();

  Result<void> serve_udp(UniqueFd socket);
  Result<void> serve_tcp(UniqueFd listener);

  // The answer to one message; empty when none is due.
  std::string answer(std::string_view message);

 private:
  struct Stream {
    UniqueFd socket{};
    std::string received{};
    EventLoop::Timer deadline{};
  };
  void note(const std::string& name, bool allowed);
  void datagram(int fd);
  void accept(int fd);
  void readable(int fd);
  void close(int fd);

  EventLoop& loop_;
  NameTable& table_;
  const HostRules& rules_;
  Record record_;
  std::map<std::string, bool> noted_{};
  std::vector<UniqueFd> listeners_{};
  std::map<int, Stream> streams_{};
};

}  // namespace coop::net
