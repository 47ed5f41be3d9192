// Messages to the kernel, read back as the kernel reads them. That it takes them is tested in tests/kernel.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <string>
#include <vector>

#include "sys/netlink/address_changes.h"
#include "sys/netlink/addressing.h"
#include "sys/netlink/nftables.h"

namespace coop::netlink {
namespace {

struct Message {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::string body{};
};

// Every length must lead exactly to the next message, and the last to the end.
std::vector<Message> messages_in(const std::string& bytes) {
  std::vector<Message> all;
  std::size_t at = 0;
  while (at + sizeof(nlmsghdr) <= bytes.size()) {
    nlmsghdr header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.nlmsg_len < sizeof header || at + header.nlmsg_len > bytes.size()) break;
    all.push_back({header.nlmsg_type, header.nlmsg_flags,
                   bytes.substr(at + sizeof header, header.nlmsg_len - sizeof header)});
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
  EXPECT_EQ(at, bytes.size());
  return all;
}

// Attributes below attributes, each within the one around it.
void check_attributes(std::string_view bytes, std::vector<std::string>& texts) {
  std::size_t at = 0;
  while (at + sizeof(nlattr) <= bytes.size()) {
    nlattr header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    ASSERT_GE(header.nla_len, sizeof header);
    ASSERT_LE(at + header.nla_len, bytes.size());
    const std::string_view value = bytes.substr(at + sizeof header, header.nla_len - sizeof header);
    if ((header.nla_type & NLA_F_NESTED) != 0) check_attributes(value, texts);
    else texts.emplace_back(value);
    at += NLA_ALIGN(header.nla_len);
  }
  ASSERT_EQ(at, bytes.size());
}

TEST(NetlinkTest, AnAddressIsWhatTheKernelReads) {
  NetlinkBatch batch;
  add_address(batch, 1, std::string("\xc6\x12\x00\x01", 4), 32);
  const std::vector<Message> messages = messages_in(batch.bytes());
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].type, RTM_NEWADDR);
  EXPECT_EQ(messages[0].flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  std::vector<std::string> values;
  check_attributes(std::string_view(messages[0].body).substr(sizeof(ifaddrmsg)), values);
  const std::string address("\xc6\x12\x00\x01", 4);
  EXPECT_EQ(values, (std::vector<std::string>{address, address}));
  EXPECT_EQ(batch.acknowledgements(), 1U);
}

TEST(NetlinkTest, RulesAreOneTransaction) {
  Ruleset rules(AF_INET, "coop");
  rules.add_chain("output", {"nat", NF_INET_LOCAL_OUT, -100});
  rules.accept("output", {.destination = Prefix{std::string("\x7f\0\0\0", 4), 8}});
  rules.send_to("output", {.protocol = IPPROTO_TCP}, std::string("\xc6\x12\x00\x01", 4), 1);
  rules.reject("output", {.protocol = IPPROTO_UDP, .port = 53});
  ASSERT_EQ(rules.finish().size(), 1U);
  const NetlinkBatch& batch = rules.finish().front();
  const std::vector<Message> messages = messages_in(batch.bytes());
  ASSERT_EQ(messages.size(), 7U);  // begin, table, chain, three rules, end
  EXPECT_EQ(batch.acknowledgements(), 1U);
  for (std::size_t index = 0; index < messages.size(); ++index)  // the last rule
    EXPECT_EQ((messages[index].flags & NLM_F_ACK) != 0, index == 5) << index;
  constexpr std::size_t kHeader = 4;  // nfgenmsg
  for (std::size_t index = 1; index + 1 < messages.size(); ++index) {
    std::vector<std::string> values;
    check_attributes(std::string_view(messages[index].body).substr(kHeader), values);
    EXPECT_EQ(values.front(), std::string("coop\0", 5)) << index;
  }
}

TEST(NetlinkTest, ARejectionOfEverythingResetsStreamsToo) {
  Ruleset both(AF_INET, "t");
  both.reject("c", {});
  Ruleset one(AF_INET, "t");
  one.reject("c", {.protocol = IPPROTO_UDP});
  EXPECT_EQ(messages_in(both.finish().front().bytes()).size(),
            messages_in(one.finish().front().bytes()).size() + 1);
}

TEST(NetlinkTest, ManyRulesAreSeveralTransactions) {
  Ruleset rules(AF_INET, "t");
  constexpr std::uint16_t kMany = 2000;
  for (std::uint16_t port = 1; port <= kMany; ++port)
    rules.accept("c", {.protocol = IPPROTO_TCP, .port = port});
  const std::vector<NetlinkBatch>& transactions = rules.finish();
  EXPECT_GT(transactions.size(), 2U);
  std::size_t total = 0;
  for (const NetlinkBatch& batch : transactions) {
    EXPECT_LT(batch.bytes().size(), std::size_t{80} << 10U);
    EXPECT_EQ(batch.acknowledgements(), 1U);
    total += messages_in(batch.bytes()).size();
  }
  EXPECT_EQ(total, kMany + 1 + 2 * transactions.size());  // with the table and the frames
}

std::string told(std::uint16_t type, unsigned char route_type, unsigned char protocol = 0) {
  rtmsg header{};
  header.rtm_type = route_type;
  header.rtm_protocol = protocol;
  header.rtm_dst_len = 24;
  NetlinkBatch batch;
  batch.begin(type, 0, bytes_of(header));
  batch.end();
  return batch.bytes();
}

TEST(AddressChangesTest, OnlyNewAddressesAndLocalRoutesCount) {
  EXPECT_TRUE(tells_of_addresses(told(RTM_NEWADDR, 0)));
  EXPECT_TRUE(tells_of_addresses(told(RTM_NEWROUTE, RTN_LOCAL)));
  const std::string others = told(RTM_DELADDR, 0) + told(RTM_DELROUTE, RTN_LOCAL) +
                             told(RTM_NEWROUTE, RTN_UNICAST) + told(RTM_NEWROUTE, RTN_BROADCAST);
  EXPECT_FALSE(tells_of_addresses(others));
  EXPECT_TRUE(tells_of_addresses(others + told(RTM_NEWROUTE, RTN_LOCAL)));
  EXPECT_FALSE(tells_of_addresses(told(RTM_NEWROUTE, RTN_UNICAST, RTPROT_STATIC)));
  EXPECT_TRUE(tells_of_addresses(told(RTM_NEWROUTE, RTN_UNICAST, RTPROT_RA)));
  EXPECT_FALSE(tells_of_addresses(""));
}

TEST(AddressChangesTest, WhatCannotBeReadCounts) {
  const std::string whole = told(RTM_NEWROUTE, RTN_UNICAST);
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_TRUE(tells_of_addresses(whole.substr(0, size))) << size;
}

TEST(AddressChangesTest, ReadingNeverWaits) {
  Result<AddressChanges> changes = AddressChanges::open();
  ASSERT_TRUE(changes.has_value());
  EXPECT_TRUE(changes->read().has_value());
}

}  // namespace
}  // namespace coop::netlink
