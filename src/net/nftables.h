// Rules of the kernel's packet filter, as messages to it. Few enough that we write them ourselves: the library would
// cost more at each start than everything else of the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/netlink_batch.h"

namespace coop::net {

// Every address of this prefix. `address` is 4 or 16 bytes in network order.
struct Prefix {
  std::string address{};
  unsigned bits = 0;
  bool operator==(const Prefix&) const = default;
};

// What a packet must be for a rule to apply; what is unset does not matter.
struct Match {
  std::optional<Prefix> destination{};
  std::optional<Prefix> source{};
  std::optional<std::uint8_t> protocol{};  // IPPROTO_*
  std::optional<std::uint16_t> port{};     // of the destination; needs `protocol`
  std::string in{};                        // the interface it came by
  std::string out{};                       // the interface it leaves by
  bool answer = false;                     // part of a connection that was let through before
};

struct Hook {
  const char* type = "filter";  // or "nat"
  std::uint32_t number = 0;     // NF_INET_*
  std::int32_t priority = 0;
};

// One table of one family. In one transaction, unless it is long: the kernel takes only so much at once. Whatever it is for must
// come after the last.
class Ruleset {
 public:
  enum class Life : std::uint8_t {
    of_namespace,  // until the namespace ends
    of_socket  // until the socket ends that it was sent by: nothing stays behind, come what may (Linux 5.12)
  };
  // `family` is AF_INET or AF_INET6.
  Ruleset(int family, std::string table, Life life = Life::of_namespace);

  void add_chain(const std::string& chain, const Hook& hook);
  void accept(const std::string& chain, const Match& match);
  void drop(const std::string& chain, const Match& match);
  // The sender hears of it at once: a reset for TCP, "prohibited" for the rest.
  void reject(const std::string& chain, const Match& match);
  // To `address` (empty: stays) and `port`.
  void send_to(const std::string& chain, const Match& match, const std::string& address,
               std::uint16_t port);
  void masquerade(const std::string& chain, const Match& match);

  // The transactions, in the order to be sent. Nothing can be added afterwards.
  const std::vector<NetlinkBatch>& finish();

 private:
  void begin_transaction();
  void end_transaction();
  void begin_rule(const std::string& chain, const Match& match);
  void end_rule();
  void expression(std::string_view name);
  void end_expression();
  void load_and_compare(std::uint32_t base, std::uint32_t offset, std::string_view value);
  void compare(std::string_view value);
  void match_prefix(const Prefix& prefix, std::uint32_t offset);
  void match_meta(std::uint32_t key, std::string_view value);
  void verdict(std::int32_t code);
  void put(std::uint32_t where, std::string_view value);

  int family_;
  std::string table_;
  NetlinkBatch batch_{};  // the transaction that is being written
  std::vector<NetlinkBatch> transactions_{};
};

}  // namespace coop::net
