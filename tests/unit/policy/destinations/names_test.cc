#include <gtest/gtest.h>

#include <thread>

#include "egress/name_table.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {
namespace {

using namespace std::literals;
using policy::host_name;

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
  EXPECT_EQ(table.number_of("next.example"), 2000U);  // none was counted twice
}

}  // namespace
}  // namespace coop::egress
