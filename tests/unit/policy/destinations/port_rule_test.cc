// Ports that lead into a sandbox and out of it.
#include "policy/destinations/port_rule.h"

#include <gmock/gmock.h>

namespace coop::policy {
namespace {

TEST(PortRuleTest, APublishedPortHasThreeParts) {
  const auto parsed = [](std::string_view text) {
    return parse_published(text).value_or(PublishedPort{});
  };
  EXPECT_EQ(parsed("8080"), (PublishedPort{"127.0.0.1", 8080, 8080}));
  EXPECT_EQ(parsed("8080:80"), (PublishedPort{"127.0.0.1", 8080, 80}));
  EXPECT_EQ(parsed("0.0.0.0:1:65535"), (PublishedPort{"0.0.0.0", 1, 65535}));
  EXPECT_EQ(parsed("[::1]:8080:80"), (PublishedPort{"::1", 8080, 80}));
  EXPECT_EQ(parsed("[0:0::1]:8080:80"), (PublishedPort{"::1", 8080, 80}));
}

TEST(PortRuleTest, EverythingElseIsRefused) {
  for (const std::string_view text : {"",
                                      ":",
                                      "0",
                                      "0:80",
                                      "80:0",
                                      "65536",
                                      "080",
                                      "+80",
                                      " 80",
                                      "80 ",
                                      "80:",
                                      ":80",
                                      "80:80:80:80",
                                      "http:80",
                                      "127.0.0.1:80",
                                      "localhost:80:80",
                                      "127.1:80:80",
                                      "::1:80:80",
                                      "[::1]:80",
                                      "[::1]80:80",
                                      "[::1",
                                      "[127.0.0.1]:80:80",
                                      "[]:80:80",
                                      "127.0.0.1::80",
                                      "80/udp"}) {
    const Result<PublishedPort> port = parse_published(text);
    EXPECT_FALSE(port.has_value()) << text;
    if (!port) {
      EXPECT_FALSE(port.error().hint.empty()) << text;
    }
  }
}

TEST(PortRuleTest, ThereIsOneSpelling) {
  for (const auto& [text, whole] :
       {std::pair("80", "127.0.0.1:80:80"), std::pair("[::0:1]:8080:80", "[::1]:8080:80")}) {
    const Result<PublishedPort> port = parse_published(text);
    ASSERT_TRUE(port.has_value());
    EXPECT_EQ(to_text(*port), whole);
    EXPECT_EQ(parse_published(whole), port);
  }
  EXPECT_EQ(host_side({"::1", 8080, 80}), "[::1]:8080");
}

TEST(PortRuleTest, OnlySomeAddressesAreForThisMachineAlone) {
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(is_loopback({address, 1, 1})) << address;
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "1.127.0.1", "::ffff:10.0.0.1"})
    EXPECT_FALSE(is_loopback({address, 1, 1})) << address;
}

TEST(PortRuleTest, APortIsANumberAndNothingElse) {
  EXPECT_EQ(parse_port("1"), 1);
  EXPECT_EQ(parse_port("65535"), 65535);
  for (const std::string_view text : {"", "0", "00", "01", "65536", "99999", "100000", "-1", "1a"})
    EXPECT_FALSE(parse_port(text).has_value()) << text;
  EXPECT_EQ(parse_port("http").error().subject, "\"http\" is not a port");
}

}  // namespace
}  // namespace coop::policy
