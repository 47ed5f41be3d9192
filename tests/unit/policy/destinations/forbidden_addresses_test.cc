// Addresses that are refused unless a rule names them.
#include "policy/destinations/forbidden_addresses.h"

#include <gtest/gtest.h>

#include <map>

#include "base/address.h"

namespace coop::policy {
namespace {

Prefix address(std::string_view text) { return prefix_of(address_bytes(text).value()); }

std::string why_forbidden(std::string_view text) {
  return std::string(forbidden(address(text)).value_or(Forbidden{}).reason);
}

TEST(AddressTest, ForbiddenNetworksAreWhatIsForbiddenAndDoNotOverlap) {
  using Networks = std::vector<std::string>;
  const auto networks = [](int family) {
    Networks texts;
    for (const Prefix& network : forbidden_networks(family)) texts.push_back(to_text(network));
    return texts;
  };
  EXPECT_EQ(networks(AF_INET),
            (Networks{"168.63.129.16/32", "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
                      "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
                      "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
                      "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"}));
  EXPECT_EQ(networks(AF_INET6), (Networks{"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
                                          "::/3", "4000::/2", "8000::/1"}));
  for (const int family : {AF_INET, AF_INET6})
    for (const Prefix& network : forbidden_networks(family))
      EXPECT_NE(forbidden(network), std::nullopt) << to_text(network);
}

TEST(AddressGuardTest, ForbidsWhatIsNotTheInternet) {
  const std::map<std::string, std::string> forbidden{
      {"0.0.0.0", "unspecified: this machine"},
      {"0.1.2.3", "reserved: this network"},
      {"10.0.0.0", "private"},
      {"10.255.255.255", "private"},
      {"100.64.0.0", "shared (carrier-grade NAT)"},
      {"100.127.255.255", "shared (carrier-grade NAT)"},
      {"100.100.100.200", "shared (cloud metadata of Alibaba)"},
      {"127.0.0.1", "loopback: this machine"},
      {"127.255.255.255", "loopback: this machine"},
      {"168.63.129.16", "cloud metadata (of Azure)"},
      {"169.254.0.1", "link-local"},
      {"169.254.169.254", "link-local (cloud metadata)"},
      {"169.254.170.2", "link-local (credentials of AWS containers)"},
      {"172.16.0.0", "private"},
      {"172.31.255.255", "private"},
      {"192.0.0.1", "reserved for protocols"},
      {"192.0.2.1", "for documentation"},
      {"192.88.99.1", "a 6to4 relay"},
      {"192.168.0.0", "private"},
      {"192.168.255.255", "private"},
      {"198.18.0.0", "for benchmarks"},
      {"198.19.255.255", "for benchmarks"},
      {"198.51.100.1", "for documentation"},
      {"203.0.113.255", "for documentation"},
      {"224.0.0.0", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.0", "reserved"},
      {"255.255.255.254", "reserved"},
      {"255.255.255.255", "broadcast"},
      {"::", "unspecified: this machine"},
      {"::1", "loopback: this machine"},
      {"0:0:0:0:0:0:0:1", "loopback: this machine"},
      {"::7f00:1", "an IPv4 address in IPv6 form (compatible)"},
      {"::8.8.8.8", "an IPv4 address in IPv6 form (compatible)"},
      {"::ffff:127.0.0.1", "an IPv4 address in IPv6 form (mapped)"},
      {"::ffff:8.8.8.8", "an IPv4 address in IPv6 form (mapped)"},
      {"::FFFF:a9fe:a9fe", "an IPv4 address in IPv6 form (mapped)"},
      {"::ffff:0:10.0.0.1", "an IPv4 address in IPv6 form (translated)"},
      {"64:ff9b::10.0.0.1", "an IPv4 address in IPv6 form (NAT64)"},
      {"64:ff9b:1:2::a00:1", "an IPv4 address in IPv6 form (NAT64)"},
      {"100::1", "discarded"},
      {"2001::1", "an IPv4 address in IPv6 form (Teredo)"},
      {"2001:0:ffff::1", "an IPv4 address in IPv6 form (Teredo)"},
      {"2001:10::1", "reserved for protocols"},
      {"2001:1ff:ffff::1", "reserved for protocols"},
      {"2001:db8::1", "for documentation"},
      {"2001:DB8:ffff::1", "for documentation"},
      {"2002:7f00:1::", "an IPv4 address in IPv6 form (6to4)"},
      {"2002:808:808::1", "an IPv4 address in IPv6 form (6to4)"},
      {"3fff:fff::1", "for documentation"},
      {"fc00::1", "private (unique local)"},
      {"fdff::1", "private (unique local)"},
      {"fd00:ec2::254", "private (cloud metadata of AWS)"},
      {"fd20:ce::254", "private (cloud metadata of Google)"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fec0::1", "private (site-local)"},
      {"feff::1", "private (site-local)"},
      {"ff02::1", "multicast"},
      {"ffff::1", "multicast"},
      {"1fff::1", "reserved"},
      {"4000::1", "reserved"},
      {"200::1", "reserved"},
  };
  for (const auto& [address, reason] : forbidden)
    EXPECT_EQ(why_forbidden(address), reason) << address;
}

TEST(AddressGuardTest, LetsTheInternetThrough) {
  for (const char* address : {"1.1.1.1",
                              "8.8.8.8",
                              "9.255.255.255",
                              "11.0.0.0",
                              "100.63.255.255",
                              "100.128.0.0",
                              "126.255.255.255",
                              "128.0.0.0",
                              "168.63.129.15",
                              "169.253.255.255",
                              "169.255.0.0",
                              "172.15.255.255",
                              "172.32.0.0",
                              "192.0.1.0",
                              "192.0.3.0",
                              "192.88.98.1",
                              "192.167.255.255",
                              "192.169.0.0",
                              "198.17.255.255",
                              "198.20.0.0",
                              "203.0.112.255",
                              "223.255.255.255",
                              "2000::1",
                              "2001:200::1",
                              "2001:4860:4860::8888",
                              "2001:db7::1",
                              "2001:db9::1",
                              "2003::1",
                              "2606:4700:4700::1111",
                              "2a00:1450::1",
                              "3fff:1000::1"})
    EXPECT_EQ(why_forbidden(address), "") << address;
}

}  // namespace
}  // namespace coop::policy
