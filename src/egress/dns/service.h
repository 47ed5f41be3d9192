// The DNS server of one sandbox, on sockets that were opened inside it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "egress/dns/server.h"
#include "egress/name_table.h"
#include "policy/destinations/judge.h"

namespace coop::egress {

struct DnsEvent {
  std::string name{};
  bool allowed = false;
  std::optional<Rule> rule{};    // of a refusal
  std::optional<Grant> grant{};  // that would allow it
};

// Sends no queries: an allowed name gets a synthetic address, all others NXDOMAIN. A name leaves
// the machine only when a connection is made.
class DnsService final : public DnsServer {
 public:
  using Record = std::function<void(const DnsEvent&)>;  // once for each name

  // The arguments outlive the service.
  DnsService(EventLoop& loop, NameTable& table, const policy::DestinationRules& rules,
             Record record);
  ~DnsService() override;

  // The answer to one message; empty when there is none.
  std::string answer(std::string_view message);

 private:
  struct Stream {
    UniqueFd socket{};
    std::string received{};
    EventLoop::Timer deadline{};
  };
  void asked(Client client, std::string_view message) override { client.tell(answer(message)); }
  void connected(UniqueFd client) override;
  void note(const std::string& name, bool allowed);
  void readable(int fd);
  void close(int fd);

  NameTable& table_;
  const policy::DestinationRules& rules_;
  Record record_;
  std::map<std::string, bool> noted_{};
  std::map<int, Stream> streams_{};
};

}  // namespace coop::egress
