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

#include <utility>

namespace coop::netlink {

namespace {

// Of one transaction: less than the smallest default send buffer of a socket.
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
constexpr std::uint32_t kTableOwner = 2;  // NFT_TABLE_F_OWNER, Linux 5.12
constexpr std::uint32_t kVerdictRegister = NFT_REG_VERDICT;
constexpr std::uint32_t kFirst = NFT_REG_1;
constexpr std::uint32_t kSecond = NFT_REG_2;

std::uint16_t type_of(int message) {
  return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
}

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
  begin_transaction();
  const nfgenmsg header{
      .nfgen_family = static_cast<std::uint8_t>(family_), .version = NFNETLINK_V0, .res_id = 0};
  batch_.begin(type_of(NFT_MSG_NEWTABLE), NLM_F_CREATE, bytes_of(header));
  batch_.text(NFTA_TABLE_NAME, table_);
  if (life == Life::of_socket) batch_.big_endian(NFTA_TABLE_FLAGS, kTableOwner);
  batch_.end();
}

void Ruleset::add_chain(const std::string& chain, const Hook& hook) {
  const nfgenmsg header{
      .nfgen_family = static_cast<std::uint8_t>(family_), .version = NFNETLINK_V0, .res_id = 0};
  batch_.begin(type_of(NFT_MSG_NEWCHAIN), NLM_F_CREATE, bytes_of(header));
  batch_.text(NFTA_CHAIN_TABLE, table_);
  batch_.text(NFTA_CHAIN_NAME, chain);
  batch_.open(NFTA_CHAIN_HOOK);
  batch_.big_endian(NFTA_HOOK_HOOKNUM, hook.number);
  batch_.big_endian(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(hook.priority));
  batch_.close();
  batch_.text(NFTA_CHAIN_TYPE, hook.type);
  batch_.end();
}

void Ruleset::expression(std::string_view name) {
  batch_.open(NFTA_LIST_ELEM);
  batch_.text(NFTA_EXPR_NAME, name);
  batch_.open(NFTA_EXPR_DATA);
}

void Ruleset::end_expression() {
  batch_.close();
  batch_.close();
}

void Ruleset::compare(std::string_view value) {
  expression("cmp");
  batch_.big_endian(NFTA_CMP_SREG, kFirst);
  batch_.big_endian(NFTA_CMP_OP, NFT_CMP_EQ);
  batch_.open(NFTA_CMP_DATA);
  batch_.attribute(NFTA_DATA_VALUE, value);
  batch_.close();
  end_expression();
}

void Ruleset::load_and_compare(std::uint32_t base, std::uint32_t offset, std::string_view value) {
  expression("payload");
  batch_.big_endian(NFTA_PAYLOAD_DREG, kFirst);
  batch_.big_endian(NFTA_PAYLOAD_BASE, base);
  batch_.big_endian(NFTA_PAYLOAD_OFFSET, offset);
  batch_.big_endian(NFTA_PAYLOAD_LEN, static_cast<std::uint32_t>(value.size()));
  end_expression();
  compare(value);
}

void Ruleset::match_prefix(const Prefix& prefix, std::uint32_t offset) {
  const auto length = static_cast<std::uint32_t>(prefix.address.size());
  if (prefix.bits == length * 8)
    return load_and_compare(NFT_PAYLOAD_NETWORK_HEADER, offset, prefix.address);
  expression("payload");
  batch_.big_endian(NFTA_PAYLOAD_DREG, kFirst);
  batch_.big_endian(NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
  batch_.big_endian(NFTA_PAYLOAD_OFFSET, offset);
  batch_.big_endian(NFTA_PAYLOAD_LEN, length);
  end_expression();
  expression("bitwise");
  batch_.big_endian(NFTA_BITWISE_SREG, kFirst);
  batch_.big_endian(NFTA_BITWISE_DREG, kFirst);
  batch_.big_endian(NFTA_BITWISE_LEN, length);
  batch_.open(NFTA_BITWISE_MASK);
  batch_.attribute(NFTA_DATA_VALUE, mask_of(prefix));
  batch_.close();
  batch_.open(NFTA_BITWISE_XOR);
  batch_.attribute(NFTA_DATA_VALUE, std::string(length, '\0'));
  batch_.close();
  end_expression();
  compare(prefix.address);
}

void Ruleset::match_meta(std::uint32_t key, std::string_view value) {
  expression("meta");
  batch_.big_endian(NFTA_META_KEY, key);
  batch_.big_endian(NFTA_META_DREG, kFirst);
  end_expression();
  compare(value);
}

void Ruleset::begin_rule(const std::string& chain, const Match& match) {
  if (batch_.bytes().size() > kMostBytes) {
    end_transaction();
    begin_transaction();
  }
  const nfgenmsg header{
      .nfgen_family = static_cast<std::uint8_t>(family_), .version = NFNETLINK_V0, .res_id = 0};
  batch_.begin(type_of(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND, bytes_of(header));
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
  if (match.protocol)
    match_meta(NFT_META_L4PROTO, {reinterpret_cast<const char*>(&*match.protocol), 1});
  if (match.port) {
    const std::uint16_t port = htons(*match.port);
    load_and_compare(NFT_PAYLOAD_TRANSPORT_HEADER, 2, bytes_of(port));
  }
  if (!match.answer) return;
  expression("ct");
  batch_.big_endian(NFTA_CT_KEY, NFT_CT_STATE);
  batch_.big_endian(NFTA_CT_DREG, kFirst);
  end_expression();
  // Established or related: one of two bits, so "not equal to none of them".
  const std::uint32_t bits = 1U << (IP_CT_ESTABLISHED + 1) | 1U << (IP_CT_RELATED + 1);
  const std::uint32_t none = 0;
  expression("bitwise");
  batch_.big_endian(NFTA_BITWISE_SREG, kFirst);
  batch_.big_endian(NFTA_BITWISE_DREG, kFirst);
  batch_.big_endian(NFTA_BITWISE_LEN, sizeof bits);
  batch_.open(NFTA_BITWISE_MASK);
  batch_.attribute(NFTA_DATA_VALUE, bytes_of(bits));
  batch_.close();
  batch_.open(NFTA_BITWISE_XOR);
  batch_.attribute(NFTA_DATA_VALUE, bytes_of(none));
  batch_.close();
  end_expression();
  expression("cmp");
  batch_.big_endian(NFTA_CMP_SREG, kFirst);
  batch_.big_endian(NFTA_CMP_OP, NFT_CMP_NEQ);
  batch_.open(NFTA_CMP_DATA);
  batch_.attribute(NFTA_DATA_VALUE, bytes_of(none));
  batch_.close();
  end_expression();
}

void Ruleset::end_rule() {
  batch_.close();
  batch_.end();
}

void Ruleset::verdict(std::int32_t code) {
  expression("immediate");
  batch_.big_endian(NFTA_IMMEDIATE_DREG, kVerdictRegister);
  batch_.open(NFTA_IMMEDIATE_DATA);
  batch_.open(NFTA_DATA_VERDICT);
  batch_.big_endian(NFTA_VERDICT_CODE, static_cast<std::uint32_t>(code));
  batch_.close();
  batch_.close();
  end_expression();
}

void Ruleset::put(std::uint32_t where, std::string_view value) {
  expression("immediate");
  batch_.big_endian(NFTA_IMMEDIATE_DREG, where);
  batch_.open(NFTA_IMMEDIATE_DATA);
  batch_.attribute(NFTA_DATA_VALUE, value);
  batch_.close();
  end_expression();
}

void Ruleset::accept(const std::string& chain, const Match& match) {
  begin_rule(chain, match);
  verdict(NF_ACCEPT);
  end_rule();
}

void Ruleset::drop(const std::string& chain, const Match& match) {
  begin_rule(chain, match);
  verdict(NF_DROP);
  end_rule();
}

void Ruleset::reject(const std::string& chain, const Match& match) {
  Match stream = match;
  stream.protocol = IPPROTO_TCP;
  if (!match.protocol || *match.protocol == IPPROTO_TCP) {
    begin_rule(chain, stream);
    expression("reject");
    batch_.big_endian(NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST);
    end_expression();
    end_rule();
  }
  begin_rule(chain, match);
  expression("reject");
  constexpr std::uint8_t kProhibited4 = 13;  // ICMP_PKT_FILTERED
  constexpr std::uint8_t kProhibited6 = 1;   // ICMPV6_ADM_PROHIBITED
  const std::uint8_t code = family_ == AF_INET ? kProhibited4 : kProhibited6;
  batch_.big_endian(NFTA_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
  batch_.attribute(NFTA_REJECT_ICMP_CODE, bytes_of(code));
  end_expression();
  end_rule();
}

void Ruleset::send_to(const std::string& chain, const Match& match, const std::string& address,
                      std::uint16_t port) {
  begin_rule(chain, match);
  if (!address.empty()) put(kFirst, address);
  const std::uint16_t swapped = htons(port);
  put(kSecond, bytes_of(swapped));
  expression("nat");
  batch_.big_endian(NFTA_NAT_TYPE, NFT_NAT_DNAT);
  batch_.big_endian(NFTA_NAT_FAMILY, static_cast<std::uint32_t>(family_));
  if (!address.empty()) batch_.big_endian(NFTA_NAT_REG_ADDR_MIN, kFirst);
  batch_.big_endian(NFTA_NAT_REG_PROTO_MIN, kSecond);
  end_expression();
  end_rule();
}

void Ruleset::masquerade(const std::string& chain, const Match& match) {
  begin_rule(chain, match);
  expression("masq");
  end_expression();
  end_rule();
}

void Ruleset::begin_transaction() {
  const nfgenmsg frame{
      .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
  batch_ = {};
  batch_.frame(NFNL_MSG_BATCH_BEGIN, bytes_of(frame));
}

void Ruleset::end_transaction() {
  const nfgenmsg frame{
      .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
  batch_.frame(NFNL_MSG_BATCH_END, bytes_of(frame));
  transactions_.push_back(std::exchange(batch_, {}));
}

const std::vector<NetlinkBatch>& Ruleset::finish() {
  if (!batch_.bytes().empty()) end_transaction();
  return transactions_;
}

}  // namespace coop::netlink
