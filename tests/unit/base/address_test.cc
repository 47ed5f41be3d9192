// Addresses in their forms.
#include "base/address.h"

#include <gtest/gtest.h>

namespace coop {
namespace {

using namespace std::literals;

TEST(AddressTest, BytesAndTextsTellTheSame) {
  EXPECT_EQ(address_bytes("192.0.2.1"), "\xc0\x00\x02\x01"s);
  EXPECT_EQ(address_text("\xc0\x00\x02\x01"s), "192.0.2.1");
  EXPECT_EQ(address_text(address_bytes("2001:DB8:0::0:1").value()), "2001:db8::1");
  EXPECT_EQ(address_bytes("192.0.2.1\0"sv), std::nullopt);
  EXPECT_EQ(address_bytes("127.1"), std::nullopt);
  EXPECT_EQ(address_text("abc"), "");
}

TEST(AddressTest, TheKernelGetsThemToo) {
  sockaddr_storage storage{};
  EXPECT_EQ(fill_socket_address(storage, "\xc0\x00\x02\x01"s, 53), sizeof(sockaddr_in));
  EXPECT_EQ(storage.ss_family, AF_INET);
  EXPECT_EQ(reinterpret_cast<sockaddr_in&>(storage).sin_port, htons(53));
  EXPECT_EQ(fill_socket_address(storage, std::string(16, 'x'), 53), sizeof(sockaddr_in6));
  EXPECT_EQ(storage.ss_family, AF_INET6);
  EXPECT_EQ(fill_socket_address(storage, "", 53), 0U);
}

TEST(AddressTest, OtherFormsAreNoAddress) {
  using namespace std::literals;
  for (const std::string_view text :
       {""sv, "a.example"sv, "127.1"sv, "0x7f.0.0.1"sv, "8.8.8.8 "sv, "08.8.8.8"sv,
        "fe80::1%eth0"sv, "[2606:4700::1]"sv, "8.8.8.8/32"sv, "8.8.8.8\0"sv, "1.2.3.4.5"sv})
    EXPECT_EQ(address_bytes(text), std::nullopt) << text;
}

TEST(AddressTest, PrefixesHoldAddressesAndOtherPrefixes) {
  const auto prefix = [](const char* text) { return parse_prefix(text).value(); };
  EXPECT_EQ(to_text(prefix("10.1.2.3/12")), "10.0.0.0/12");
  EXPECT_EQ(to_text(prefix("2001:db8::1")), "2001:db8::1/128");
  EXPECT_TRUE(is_within(prefix("10.1.2.3"), prefix("10.0.0.0/8")));
  EXPECT_TRUE(is_within(prefix("10.0.0.0/8"), prefix("0.0.0.0/0")));
  EXPECT_FALSE(is_within(prefix("10.0.0.0/8"), prefix("10.0.0.0/9")));
  EXPECT_FALSE(is_within(prefix("10.0.0.1"), prefix("::/0")));
  EXPECT_TRUE(overlap(prefix("10.0.0.0/8"), prefix("10.1.0.0/16")));
  EXPECT_FALSE(overlap(prefix("10.0.0.0/9"), prefix("10.128.0.0/9")));
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/8 ", "a/8", "/8",
                           "10.0.0.0/-1", "10.0.0.0/4294967304", "::/129"})
    EXPECT_EQ(parse_prefix(text), std::nullopt) << text;
}

TEST(AddressTest, LoopbackIsOneNetworkAndOneAddress) {
  for (const char* text : {"127.0.0.1", "127.255.255.255", "127.0.0.0/8", "127.1.0.0/16", "::1"})
    EXPECT_TRUE(is_loopback(parse_prefix(text).value())) << text;
  for (const char* text : {"0.0.0.0", "::", "126.0.0.1", "128.0.0.0", "::/0", "126.0.0.0/7",
                           "::ffff:127.0.0.1", "::2"})
    EXPECT_FALSE(is_loopback(parse_prefix(text).value())) << text;
}

TEST(AddressTest, HostsArePartedFromPorts) {
  using Split = std::tuple<std::string_view, std::optional<std::string_view>, bool>;
  const auto split = [](std::string_view text) -> std::optional<Split> {
    const std::optional<HostAndPort> found = split_port(text);
    if (!found) return std::nullopt;
    return Split{found->host, found->port, found->bracketed};
  };
  EXPECT_EQ(split("a.example"), (Split{"a.example", std::nullopt, false}));
  EXPECT_EQ(split("a.example:80"), (Split{"a.example", "80", false}));
  EXPECT_EQ(split("a.example:"), (Split{"a.example", "", false}));
  EXPECT_EQ(split("a:b:c"), (Split{"a", "b:c", false}));
  EXPECT_EQ(split("10.0.0.0/8:53"), (Split{"10.0.0.0/8", "53", false}));
  EXPECT_EQ(split("[::1]"), (Split{"::1", std::nullopt, true}));
  EXPECT_EQ(split("[::1]:80"), (Split{"::1", "80", true}));
  EXPECT_EQ(split("[fd00::/8]:80"), (Split{"fd00::/8", "80", true}));
  EXPECT_EQ(split(""), (Split{"", std::nullopt, false}));
  for (const char* text : {"[", "[::1", "[::1]x", "[::1]80", "[::1]]"})
    EXPECT_EQ(split(text), std::nullopt) << text;
}

}  // namespace
}  // namespace coop
