#include "sys/netlink/nftables.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <initializer_list>
#include <utility>

namespace coop::netlink {

namespace {

// Of one transaction: less than the smallest default send buffer of a socket.
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
constexpr std::uint32_t kTableOwner = 2;  // NFT_TABLE_F_OWNER, Linux 5.12
constexpr std::uint32_t kFirst = NFT_REG_1;
constexpr std::uint32_t kSecond = NFT_REG_2;

// ICMP_PKT_FILTERED and ICMPV6_ADM_PROHIBITED.
std::uint8_t prohibited(int family) { return family == AF_INET ? 13 : 1; }

// Offset of the addresses in the header of each family.
std::uint32_t source_offset(int family) { return family == AF_INET ? 12 : 8; }
std::uint32_t destination_offset(int family) { return family == AF_INET ? 16 : 24; }

std::string mask_of(const Prefix& prefix) {
  std::string mask(prefix.address.size(), '\0');
  for (unsigned bit = 0; bit < prefix.bits; ++bit)
    mask[bit / 8] = static_cast<char>(static_cast<unsigned char>(mask[bit / 8]) | 0x80U >> bit % 8);
  return mask;
}

}  // namespace

Ruleset::Ruleset(int family, std::string table, Life life)
    : family_(family), table_(std::move(table)) {
  frame(NFNL_MSG_BATCH_BEGIN);
  begin(NFT_MSG_NEWTABLE, NLM_F_CREATE);
  batch_.text(NFTA_TABLE_NAME, table_);
  if (life == Life::of_socket) batch_.big_endian(NFTA_TABLE_FLAGS, kTableOwner);
  batch_.end();
}

void Ruleset::begin(int message, std::uint16_t flags) {
  const nfgenmsg header{
      .nfgen_family = static_cast<std::uint8_t>(family_), .version = NFNETLINK_V0, .res_id = 0};
  batch_.begin(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message), flags,
               bytes_of(header));
}

void Ruleset::add_chain(const std::string& chain, const Hook& hook) {
  begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
  batch_.text(NFTA_CHAIN_TABLE, table_);
  batch_.text(NFTA_CHAIN_NAME, chain);
  batch_.open(NFTA_CHAIN_HOOK);
  batch_.big_endian(NFTA_HOOK_HOOKNUM, hook.number);
  batch_.big_endian(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(hook.priority));
  batch_.close();
  batch_.text(NFTA_CHAIN_TYPE, hook.type);
  batch_.end();
}

void Ruleset::begin_expression(std::string_view name) {
  batch_.open(NFTA_LIST_ELEM);
  batch_.text(NFTA_EXPR_NAME, name);
  batch_.open(NFTA_EXPR_DATA);
}

void Ruleset::end_expression() {
  batch_.close();
  batch_.close();
}

void Ruleset::expression(std::string_view name, std::initializer_list<Number> numbers,
                         std::initializer_list<Value> values) {
  begin_expression(name);
  for (const Number& number : numbers) batch_.big_endian(number.attribute, number.value);
  for (const Value& value : values) {
    batch_.open(value.attribute);
    batch_.attribute(NFTA_DATA_VALUE, value.bytes);
    batch_.close();
  }
  end_expression();
}

void Ruleset::compare(std::string_view value, std::uint32_t operation) {
  expression("cmp", {{NFTA_CMP_SREG, kFirst}, {NFTA_CMP_OP, operation}}, {{NFTA_CMP_DATA, value}});
}

void Ruleset::load(std::uint32_t base, std::uint32_t offset, std::size_t length) {
  expression("payload", {{NFTA_PAYLOAD_DREG, kFirst},
                         {NFTA_PAYLOAD_BASE, base},
                         {NFTA_PAYLOAD_OFFSET, offset},
                         {NFTA_PAYLOAD_LEN, static_cast<std::uint32_t>(length)}});
}

void Ruleset::keep_bits(std::string_view mask) {
  const std::string none(mask.size(), '\0');
  expression("bitwise",
             {{NFTA_BITWISE_SREG, kFirst},
              {NFTA_BITWISE_DREG, kFirst},
              {NFTA_BITWISE_LEN, static_cast<std::uint32_t>(mask.size())}},
             {{NFTA_BITWISE_MASK, mask}, {NFTA_BITWISE_XOR, none}});
}

void Ruleset::match_prefix(const Prefix& prefix, std::uint32_t offset) {
  load(NFT_PAYLOAD_NETWORK_HEADER, offset, prefix.address.size());
  if (prefix.bits < prefix.address.size() * 8) keep_bits(mask_of(prefix));
  compare(prefix.address);
}

void Ruleset::match_meta(std::uint32_t key, std::string_view value) {
  expression("meta", {{NFTA_META_KEY, key}, {NFTA_META_DREG, kFirst}});
  compare(value);
}

void Ruleset::begin_rule(const std::string& chain, const Match& match) {
  if (batch_.bytes().size() > kMostBytes) {
    end_transaction();
    frame(NFNL_MSG_BATCH_BEGIN);
  }
  begin(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
  batch_.text(NFTA_RULE_TABLE, table_);
  batch_.text(NFTA_RULE_CHAIN, chain);
  batch_.open(NFTA_RULE_EXPRESSIONS);
  // The kernel compares the whole fixed-size name.
  const auto name = [](const std::string& interface) {
    std::string whole = interface;
    whole.resize(IFNAMSIZ);
    return whole;
  };
  if (!match.in.empty()) match_meta(NFT_META_IIFNAME, name(match.in));
  if (!match.out.empty()) match_meta(NFT_META_OIFNAME, name(match.out));
  if (match.source) match_prefix(*match.source, source_offset(family_));
  if (match.destination) match_prefix(*match.destination, destination_offset(family_));
  if (match.protocol) match_meta(NFT_META_L4PROTO, bytes_of(*match.protocol));
  if (match.port) {
    const std::uint16_t port = htons(*match.port);
    load(NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof port);
    compare(bytes_of(port));
  }
  if (!match.answer) return;
  expression("ct", {{NFTA_CT_KEY, NFT_CT_STATE}, {NFTA_CT_DREG, kFirst}});
  // Established or related: one of two bits, so "not equal to none of them".
  const std::uint32_t bits = 1U << (IP_CT_ESTABLISHED + 1) | 1U << (IP_CT_RELATED + 1);
  const std::uint32_t none = 0;
  keep_bits(bytes_of(bits));
  compare(bytes_of(none), NFT_CMP_NEQ);
}

void Ruleset::end_rule() {
  batch_.close();
  batch_.end();
}

void Ruleset::decide(const std::string& chain, const Match& match, std::uint32_t verdict) {
  begin_rule(chain, match);
  begin_expression("immediate");
  batch_.big_endian(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
  batch_.open(NFTA_IMMEDIATE_DATA);
  batch_.open(NFTA_DATA_VERDICT);
  batch_.big_endian(NFTA_VERDICT_CODE, verdict);
  batch_.close();
  batch_.close();
  end_expression();
  end_rule();
}

void Ruleset::accept(const std::string& chain, const Match& match) {
  decide(chain, match, NF_ACCEPT);
}

void Ruleset::drop(const std::string& chain, const Match& match) { decide(chain, match, NF_DROP); }

void Ruleset::reject(const std::string& chain, const Match& match) {
  Match stream = match;
  stream.protocol = IPPROTO_TCP;
  if (!match.protocol || *match.protocol == IPPROTO_TCP) {
    begin_rule(chain, stream);
    expression("reject", {{NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST}});
    end_rule();
  }
  begin_rule(chain, match);
  begin_expression("reject");
  batch_.big_endian(NFTA_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
  const std::uint8_t code = prohibited(family_);
  batch_.attribute(NFTA_REJECT_ICMP_CODE, bytes_of(code));
  end_expression();
  end_rule();
}

void Ruleset::send_to(const std::string& chain, const Match& match, const std::string& address,
                      std::uint16_t port) {
  const auto put = [this](std::uint32_t where, std::string_view value) {
    expression("immediate", {{NFTA_IMMEDIATE_DREG, where}}, {{NFTA_IMMEDIATE_DATA, value}});
  };
  begin_rule(chain, match);
  if (!address.empty()) put(kFirst, address);
  const std::uint16_t swapped = htons(port);
  put(kSecond, bytes_of(swapped));
  begin_expression("nat");
  batch_.big_endian(NFTA_NAT_TYPE, NFT_NAT_DNAT);
  batch_.big_endian(NFTA_NAT_FAMILY, static_cast<std::uint32_t>(family_));
  if (!address.empty()) batch_.big_endian(NFTA_NAT_REG_ADDR_MIN, kFirst);
  batch_.big_endian(NFTA_NAT_REG_PROTO_MIN, kSecond);
  end_expression();
  end_rule();
}

void Ruleset::masquerade(const std::string& chain, const Match& match) {
  begin_rule(chain, match);
  expression("masq", {});
  end_rule();
}

// The begin or end of a transaction.
void Ruleset::frame(std::uint16_t type) {
  const nfgenmsg header{
      .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
  batch_.frame(type, bytes_of(header));
}

void Ruleset::end_transaction() {
  frame(NFNL_MSG_BATCH_END);
  transactions_.push_back(std::exchange(batch_, {}));
}

const std::vector<NetlinkBatch>& Ruleset::finish() {
  if (!batch_.bytes().empty()) end_transaction();
  return transactions_;
}

}  // namespace coop::netlink
