// nftables rules as netlink messages. We need few, so we write them ourselves: libnftables would
// cost more at each start than the rest of the network set-up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/destination.h"
#include "sys/netlink/batch.h"

namespace coop::netlink {

// The packets a rule applies to; unset fields match everything.
struct Match {
  std::optional<Prefix> destination{};
  std::optional<Prefix> source{};
  std::optional<std::uint8_t> protocol{};  // IPPROTO_*
  std::optional<std::uint16_t> port{};     // of the destination; needs `protocol`
  std::string in{};                        // input interface
  std::string out{};                       // output interface
  bool answer = false;                     // belongs to an established or related connection
};

struct Hook {
  const char* type = "filter";  // or "nat"
  std::uint32_t number = 0;     // NF_INET_*
  std::int32_t priority = 0;
};

// One table of one family. One transaction, or several if it is long: the kernel limits the size of
// one. Do not rely on the rules before the last transaction is sent.
class Ruleset {
 public:
  enum class Life : std::uint8_t {
    of_namespace,  // until the namespace ends
    of_socket      // until the netlink socket that created it is closed (Linux 5.12)
  };
  // `family` is AF_INET or AF_INET6.
  Ruleset(int family, std::string table, Life life = Life::of_namespace);

  void add_chain(const std::string& chain, const Hook& hook);
  void accept(const std::string& chain, const Match& match);
  void drop(const std::string& chain, const Match& match);
  // The sender gets an error: RST for TCP, ICMP "administratively prohibited" for the rest.
  void reject(const std::string& chain, const Match& match);
  // Destination NAT to `address` (empty: unchanged) and `port`.
  void send_to(const std::string& chain, const Match& match, const std::string& address,
               std::uint16_t port);
  void masquerade(const std::string& chain, const Match& match);

  // The transactions, in the order to send them. Nothing can be added afterwards.
  const std::vector<NetlinkBatch>& finish();

 private:
  // Attributes of an expression: numbers in network byte order, and values for registers.
  struct Number {
    std::uint16_t attribute = 0;
    std::uint32_t value = 0;
  };
  struct Value {
    std::uint16_t attribute = 0;
    std::string_view bytes{};
  };
  void frame(std::uint16_t type);
  void end_transaction();
  void begin(int message, std::uint16_t flags);
  void begin_rule(const std::string& chain, const Match& match);
  void end_rule();
  void begin_expression(std::string_view name);
  void end_expression();
  void expression(std::string_view name, std::initializer_list<Number> numbers,
                  std::initializer_list<Value> values = {});
  // These work on the first register.
  void load(std::uint32_t base, std::uint32_t offset, std::size_t length);
  void keep_bits(std::string_view mask);
  void compare(std::string_view value, std::uint32_t operation = 0);  // NFT_CMP_EQ
  void match_prefix(const Prefix& prefix, std::uint32_t offset);
  void match_meta(std::uint32_t key, std::string_view value);
  void decide(const std::string& chain, const Match& match, std::uint32_t verdict);

  int family_;
  std::string table_;
  NetlinkBatch batch_{};  // the transaction being written
  std::vector<NetlinkBatch> transactions_{};
};

}  // namespace coop::netlink
