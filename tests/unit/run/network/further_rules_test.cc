// The rules that are added during a run.
#include <gtest/gtest.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "base/address.h"
#include "coop/destination.h"
#include "run/network/freeze.h"

namespace coop::run {
namespace {

using netlink::NetlinkBatch;

// The rules in one transaction, as bytes.
std::vector<std::string> rules_in(const NetlinkBatch& batch) {
  std::vector<std::string> rules;
  const std::string& bytes = batch.bytes();
  nlmsghdr header{};
  for (std::size_t at = 0; at + sizeof header <= bytes.size();
       at += NLMSG_ALIGN(header.nlmsg_len)) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE))
      rules.push_back(bytes.substr(at, header.nlmsg_len));
  }
  return rules;
}

DestinationRule rule(std::string_view text) {
  return {parse_destination(text).value(), Origin::of_flag("--allow-net")};
}

TEST(FurtherRulesTest, PartsThatARuleNamesComeBeforeTheNetwork) {
  const std::vector<Prefix> further{*parse_prefix("45.61.0.0/24")};
  // One that has its rule already, a wider one, another one, and of the other family.
  const std::vector<DestinationRule> allowed{rule("45.61.0.0/26"), rule("45.61.0.9"),
                                             rule("45.0.0.0/8"),   rule("46.0.0.0/26"),
                                             rule("2600::/64"),    rule("a.example")};
  const std::vector<NetlinkBatch> batches = further_rules({further, allowed, {}});
  ASSERT_EQ(batches.size(), 1U);
  const std::vector<std::string> rules = rules_in(batches.front());
  ASSERT_EQ(rules.size(), 4U);  // accept ports 80 and 443, reject TCP and the rest
  for (const std::string& each : rules) EXPECT_TRUE(each.contains("output"));
  const auto rejects = [](const std::string& each) { return each.contains("reject"); };
  EXPECT_TRUE(std::ranges::none_of(rules.begin(), rules.begin() + 2, rejects));
  EXPECT_TRUE(std::ranges::all_of(rules.begin() + 2, rules.end(), rejects));
}

TEST(FurtherRulesTest, EachFamilyHasItsOwn) {
  const std::vector<Prefix> both{*parse_prefix("45.61.0.1"), *parse_prefix("2600:1234::/64")};
  EXPECT_EQ(further_rules({both, {}, {}}).size(), 2U);
  const std::vector<Prefix> six{both.back()};
  const std::vector<NetlinkBatch> batches = further_rules({six, {}, {}});
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(rules_in(batches.front()).size(), 2U);
  EXPECT_TRUE(further_rules({{}, {}, {}}).empty());
}

}  // namespace
}  // namespace coop::run
