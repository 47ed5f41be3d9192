// The DNS server of one sandbox, on sockets that were opened inside it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "egress/name_table.h"
#include "policy/destinations/judge.h"
#include "sys/event_loop.h"

namespace coop::egress {

struct DnsEvent {
  std::string name{};
  bool allowed = false;
  std::optional<Rule> rule{};    // of a refusal
  std::optional<Grant> grant{};  // that would allow it
};

// Sends no queries: an allowed name gets a synthetic address, all others NXDOMAIN. A name leaves
// the machine only when a connection is made.
class DnsService {
 public:
  using Record = std::function<void(const DnsEvent&)>;  // once for each name

  // The arguments outlive the service.
  DnsService(EventLoop& loop, NameTable& table, const policy::DestinationRules& rules,
             Record record);
  DnsService(const DnsService&) = delete;
  DnsService& operator=(const DnsService&) = delete;
  ~DnsService();

  Result<void> serve_udp(UniqueFd socket);
  Result<void> serve_tcp(UniqueFd listener);

  // The answer to one message; empty when there is none.
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
  const policy::DestinationRules& rules_;
  Record record_;
  std::map<std::string, bool> noted_{};
  std::vector<UniqueFd> listeners_{};
  std::map<int, Stream> streams_{};
};

}  // namespace coop::egress
