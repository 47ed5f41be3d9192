#include <gtest/gtest.h>

#include <thread>

#include "net/host_name.h"
#include "net/host_rules.h"
#include "net/name_table.h"

namespace coop::net {
namespace {

using namespace std::literals;

TEST(HostNameTest, OneSpellingForEachName) {
  EXPECT_EQ(host_name("Example.COM."), "example.com");
  EXPECT_EQ(host_name("_dmarc.a-b.example"), "_dmarc.a-b.example");
  EXPECT_EQ(host_name("localhost"), "localhost");
  EXPECT_EQ(host_name(std::string(63, 'a') + ".b"), std::string(63, 'a') + ".b");
}

TEST(HostNameTest, WhatIsNoNameIsNone) {
  for (const std::string& text : {""s,
                                  "."s,
                                  ".."s,
                                  "a..b"s,
                                  ".a"s,
                                  "a.."s,
                                  "a b"s,
                                  "a\0b"s,
                                  "a/b"s,
                                  "b\u00fccher.example"s,
                                  "a%00b"s,
                                  "a:1"s,
                                  "[::1]"s,
                                  "127.0.0.1"s,
                                  "127.1"s,
                                  "0x7f.1"s,
                                  "0x7f000001"s,
                                  "2130706433"s,
                                  "example.0x10"s,
                                  "user@host"s,
                                  std::string(64, 'a') + ".b",
                                  std::string(300, 'a')})
    EXPECT_EQ(host_name(text), std::nullopt) << text;
}

TEST(NameTableTest, AnAddressTellsItsNameAgain) {
  NameTable table;
  const std::uint32_t one = *table.number_of("a.example");
  const std::uint32_t two = *table.number_of("b.example");
  EXPECT_NE(one, two);
  EXPECT_EQ(table.number_of("a.example"), one);
  EXPECT_EQ(NameTable::ipv4(one), "\xc6\x12\x01\x00"s);  // 198.18.1.0
  EXPECT_EQ(table.name_of(NameTable::ipv4(one)), "a.example");
  EXPECT_EQ(table.name_of(NameTable::ipv6(two)), "b.example");
}

TEST(NameTableTest, OtherAddressesStandForNothing) {
  NameTable table;
  ASSERT_TRUE(table.number_of("a.example").has_value());
  for (const std::string& address :
       {""s, "\x7f\0\0\x01"s, "\xc6\x12\x00\x35"s, NameTable::ipv4(1), NameTable::ipv6(7),
        std::string(16, '\0'), "\0\0\0\0\0\0\0\0\0\0\xff\xff"s + NameTable::ipv4(0),
        NameTable::ipv4(0) + "x"})
    EXPECT_EQ(table.name_of(address), std::nullopt);
}

TEST(NameTableTest, ItIsFullAtSomeTime) {
  NameTable table;
  for (std::size_t count = 0; count < NameTable::kMostNames; ++count)
    ASSERT_TRUE(table.number_of("n" + std::to_string(count)).has_value());
  EXPECT_EQ(table.number_of("one-more"), std::nullopt);
  EXPECT_TRUE(table.number_of("n5").has_value());
}

TEST(NameTableTest, ManyThreadsAgree) {
  NameTable table;
  const auto ask = [&table] {
    for (int count = 0; count < 2000; ++count) {
      const std::string name = "n" + std::to_string(count);
      EXPECT_EQ(table.name_of(NameTable::ipv4(*table.number_of(name))), name);
    }
  };
  {
    const std::jthread one(ask);
    const std::jthread two(ask);
  }
  EXPECT_EQ(table.size(), 2000U);
}

HostRules rules() {
  return {.allowed = {{"*.example.com", "policy.toml:3"},
                      {"registry.example:5000", "--allow-net"},
                      {"192.0.2.0/24", "--allow-net"}},
          .denied = {{"bad.example.com", "policy.toml:5"}}};
}

TEST(HostRulesTest, TheVerdictNamesItsRule) {
  EXPECT_EQ(judge(rules(), "a.example.com", 443),
            (HostVerdict{.allowed = true, .rule = "policy.toml:3 *.example.com"}));
  EXPECT_EQ(judge(rules(), "bad.example.com", 443),
            (HostVerdict{.denied = true, .rule = "policy.toml:5 bad.example.com"}));
  EXPECT_EQ(judge(rules(), "a.example.com", 22),
            (HostVerdict{.rule = "no rule allows it", .grant = "--allow-net a.example.com:22"}));
  EXPECT_EQ(judge(rules(), "registry.example", 5000),
            (HostVerdict{.allowed = true, .rule = "--allow-net registry.example:5000"}));
  EXPECT_FALSE(judge(rules(), "registry.example", 443).allowed);
  EXPECT_TRUE(judge(rules(), "192.0.2.7", 80).allowed);
  EXPECT_FALSE(judge(rules(), "192.0.3.7", 80).allowed);
  EXPECT_FALSE(judge(rules(), "example.com.evil.example", 443).allowed);
  EXPECT_EQ(judge(rules(), "2001:db8::1", 443).grant, "--allow-net 2001:db8::1");
}

TEST(HostRulesTest, WithoutRulesNothingIsReached) {
  EXPECT_FALSE(judge({}, "a.example", 443).allowed);
  EXPECT_FALSE(may_resolve({}, "a.example"));
}

TEST(HostRulesTest, OnlyNamesThatLeadSomewhereAreResolved) {
  EXPECT_TRUE(may_resolve(rules(), "a.example.com"));
  EXPECT_TRUE(may_resolve(rules(), "registry.example"));
  EXPECT_FALSE(may_resolve(rules(), "bad.example.com"));
  EXPECT_FALSE(may_resolve(rules(), "other.example"));
  HostRules one_port = rules();
  one_port.denied = {{"a.example.com:22", "x"}};
  EXPECT_TRUE(may_resolve(one_port, "a.example.com"));
}

TEST(HostRulesTest, NoGrantIsSuggestedThatNobodyShouldGive) {
  EXPECT_EQ(grant_for("example.com", 443), "--allow-net example.com");
  EXPECT_EQ(grant_for("10.1.2.3", 81), "--allow-net 10.1.2.3:81");
  EXPECT_EQ(grant_for("127.0.0.1", 5432), "--host-port 5432");
  for (const char* address : {"169.254.169.254", "198.18.0.77", "64:ff9b::7f00:1"})
    EXPECT_EQ(grant_for(address, 80), "") << address;
}

TEST(HostRulesTest, OnlyARuleThatNamesAForbiddenNetworkOpensIt) {
  const auto opens = [](const std::string& pattern, const std::string& address,
                        std::uint16_t port) {
    return opens_forbidden({.allowed = {{pattern, "--allow-net"}}}, address, port);
  };
  EXPECT_TRUE(opens("10.1.2.3", "10.1.2.3", 80));
  EXPECT_TRUE(opens("10.0.0.0/8", "10.1.2.3", 443));
  EXPECT_TRUE(opens("10.1.2.3:5432", "10.1.2.3", 5432));
  EXPECT_TRUE(opens("[fd00::1]:81", "fd00::1", 81));
  EXPECT_TRUE(opens("10.0.0.0/8:5000", "10.1.2.3", 5000));
  EXPECT_FALSE(opens("10.1.2.3", "10.1.2.3", 5432));
  for (const char* wide : {"0.0.0.0/0", "8.0.0.0/5", "128.0.0.0/1"}) {
    EXPECT_FALSE(opens(wide, "10.1.2.3", 80)) << wide;
    EXPECT_FALSE(opens(wide, "169.254.169.254", 80)) << wide;
  }
  EXPECT_FALSE(opens("::/0", "fd00::1", 80));
  // An address of this machine is in no list of forbidden ones: it alone must be named.
  EXPECT_TRUE(opens("8.8.8.8", "8.8.8.8", 80));
  EXPECT_TRUE(opens("8.8.8.8/32:81", "8.8.8.8", 81));
  EXPECT_FALSE(opens("8.8.8.0/24", "8.8.8.8", 80));
  EXPECT_FALSE(opens_forbidden({.allowed = {{"10.0.0.0/8", "a"}}, .denied = {{"10.1.0.0/16", "b"}}},
                               "10.1.2.3", 80));
}

}  // namespace
}  // namespace coop::net
