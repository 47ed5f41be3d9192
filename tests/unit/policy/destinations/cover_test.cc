// Whether destinations cover each other.
#include "policy/destinations/cover.h"

#include <gtest/gtest.h>

#include "policy/destinations/forbidden_addresses.h"
#include "support/destination_rule.h"

namespace coop::policy {
namespace {

bool covers_text(const char* cover, const char* item, Portless portless) {
  return covers(tests::destination(cover), tests::destination(item), portless);
}

bool allows(const char* cover, const char* item) {
  return covers_text(cover, item, Portless::usual);
}

TEST(CoverTest, NamesCoverThemselvesAndStarsWhatIsBelow) {
  EXPECT_TRUE(allows("a.com", "a.com"));
  EXPECT_TRUE(allows("a.com", "A.com"));
  EXPECT_FALSE(allows("a.com", "x.a.com"));
  EXPECT_TRUE(allows("*.a.com", "x.a.com"));
  EXPECT_TRUE(allows("*.a.com", "*.x.a.com"));
  EXPECT_TRUE(allows("*.a.com", "*.a.com"));
  EXPECT_FALSE(allows("*.a.com", "a.com"));
  EXPECT_FALSE(allows("*.a.com", "xa.com"));
  EXPECT_FALSE(allows("x.a.com", "*.a.com"));
  EXPECT_FALSE(allows("*.x.a.com", "*.a.com"));
}

TEST(CoverTest, WithoutAPortTheUsualOnesAreAllowedAndAllAreDenied) {
  EXPECT_TRUE(allows("a.com", "a.com:443"));
  EXPECT_TRUE(allows("a.com", "a.com:80"));
  EXPECT_FALSE(allows("a.com", "a.com:22"));
  EXPECT_TRUE(covers_text("a.com", "a.com:22", Portless::every));
  EXPECT_TRUE(allows("a.com:22", "a.com:22"));
  EXPECT_FALSE(allows("a.com:22", "a.com:23"));
  EXPECT_FALSE(allows("a.com:443", "a.com")) << "it asks for 80 too";
  EXPECT_FALSE(covers_text("a.com:443", "a.com", Portless::every));
}

TEST(CoverTest, NetworksCoverAddressesAndSmallerNetworks) {
  EXPECT_TRUE(allows("10.0.0.0/8", "10.1.2.3"));
  EXPECT_TRUE(allows("10.0.0.0/8", "10.1.0.0/16"));
  EXPECT_TRUE(allows("10.0.0.0/8", "10.1.2.3:443"));
  EXPECT_FALSE(allows("10.1.0.0/16", "10.0.0.0/8"));
  EXPECT_FALSE(allows("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(allows("0.0.0.0/0", "192.0.2.1"));
  EXPECT_FALSE(allows("0.0.0.0/0", "a.com"));
  EXPECT_FALSE(allows("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(allows("2001:db8::/32", "2001:db8:1::/48"));
  EXPECT_TRUE(allows("2001:db8::/32", "[2001:db8::1]:443"));
  EXPECT_FALSE(allows("2001:db8::/32", "2001:db9::1"));
  EXPECT_TRUE(allows("2001:db8::1", "2001:0db8:0::1")) << "one address, two spellings";
  EXPECT_FALSE(allows("::/0", "10.1.2.3"));
}

TEST(CoverTest, LocalhostIsANameAndTwoNetworks) {
  for (const char* text : {"localhost", "localhost:80", "a.localhost", "*.localhost", "127.0.0.1",
                           "127.0.0.0/8", "127.1.0.0/16:80", "::1", "[::1]:80", "0.0.0.0", "::"})
    EXPECT_TRUE(is_loopback(tests::destination(text))) << text;
  for (const char* text : {"localhost.example", "xlocalhost", "126.0.0.0/7", "128.0.0.1", "::2"})
    EXPECT_FALSE(is_loopback(tests::destination(text))) << text;
}

TEST(CoverTest, NetworksWithMachinesNearbyAreForbidden) {
  for (const char* text : {"10.0.0.1", "169.254.169.254", "127.0.0.1:80", "192.168.0.0/24", "::1",
                           "[fe80::1]:443", "fd00::/8", "0.0.0.0/0", "::/0", "64:ff9b::7f00:1",
                           "100.64.1.1", "168.63.129.16", "192.0.2.1", "2001:db8::1"})
    EXPECT_TRUE(forbidden(tests::destination(text).network).has_value()) << text;
  for (const char* text : {"8.8.8.8", "2606:4700::1111", "9.0.0.0/8"})
    EXPECT_FALSE(forbidden(tests::destination(text).network).has_value()) << text;
}

}  // namespace
}  // namespace coop::policy
