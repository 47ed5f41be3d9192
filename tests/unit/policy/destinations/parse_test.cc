// Destinations in a network list.
#include "coop/destination.h"

#include <gmock/gmock.h>

namespace coop {
namespace {

TEST(DestinationTest, NamesAddressesAndNetworksAreTakenInLowerCase) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"example.com", "example.com"},
      {"EXAMPLE.com:443", "example.com:443"},
      {"localhost", "localhost"},
      {"my_bucket.s3.amazonaws.com", "my_bucket.s3.amazonaws.com"},
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"*.example.com", "*.example.com"},
      {"*.example.com:65535", "*.example.com:65535"},
      {"3com.com", "3com.com"},
      {"10.0.0.1", "10.0.0.1"},
      {"10.0.0.1:1", "10.0.0.1:1"},
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"0.0.0.0/0", "0.0.0.0/0"},
      {"10.1.2.3/32", "10.1.2.3"},
      {"10.0.0.0/8:5000", "10.0.0.0/8:5000"},
      {"2001:0DB8:0::0/32", "2001:db8::/32"},
      {"::1", "::1"},
      {"2001:DB8::1", "2001:db8::1"},
      {"[::1]", "::1"},
      {"[2001:db8::1]:443", "[2001:db8::1]:443"},
      {"fd00::/8", "fd00::/8"},
      {"::/0", "::/0"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Destination> checked = parse_destination(text);
    ASSERT_TRUE(checked.has_value()) << text << ": " << checked.error().subject;
    EXPECT_EQ(to_text(*checked), expected);
    EXPECT_EQ(parse_destination(to_text(*checked)), *checked);
  }
}

TEST(DestinationTest, TheValueSaysWhatItIs) {
  using Kind = Destination::Kind;
  EXPECT_EQ(parse_destination("A.com:81"), (Destination{.name = "a.com", .port = 81}));
  EXPECT_EQ(parse_destination("*.a.com"), (Destination{.kind = Kind::wildcard, .name = "a.com"}));
  EXPECT_EQ(parse_destination("10.0.0.0/8:5000"),
            (Destination{.kind = Kind::network,
                         .network = {.address = std::string("\x0a\0\0\0", 4), .bits = 8},
                         .port = 5000}));
}

TEST(DestinationTest, EverythingElseIsRefused) {
  for (const std::string_view text : {
           "",
           " ",
           "*",
           "*:443",
           "*.",
           "*.*.com",
           "a.*.com",
           "exa*mple.com",
           "*example.com",
           ".example.com",
           "example.com.",
           "a..b",
           "-a.com",
           "a-.com",
           "a b.com",
           "a/b",
           "https://example.com",
           "example.com/path",
           "example.com:",
           "example.com:0",
           "example.com:65536",
           "example.com:080",
           "example.com:+1",
           "example.com:http",
           "user@example.com",
           "b\xc3\xbc"
           "cher.example",
           "a\tb",
           "a%2e.com",
           // what some programs read as 127.0.0.1
           "127.1",
           "2130706433",
           "0x7f.1",
           "0x7f000001",
           "0x",
           "010.0.0.1",
           "127.0.0.01",
           "256.0.0.1",
           "1.2.3.4.5",
           "*.1.2.3.4",
           "a.b.3",
           "10.0.0.0/33",
           "10.0.0.0/",
           "10.0.0.0/08",
           "10.0.0.0/8:0",
           "10.0.0.1/8",
           "/8",
           "example.com/8",
           "fd00::1/8",
           "::/129",
           ":::",
           "1:2",
           "::1:x",
           "fe80::1%eth0",
           "[::1",
           "[::1]443",
           "[::1]:0",
           "[::1]:",
           "[10.0.0.1]",
           "[]",
           "[",
           "]",
       })
    EXPECT_FALSE(parse_destination(text).has_value()) << text;
  EXPECT_FALSE(parse_destination(std::string_view("a\0b", 3)).has_value());
  EXPECT_FALSE(parse_destination(std::string(64, 'a') + ".com").has_value());
  EXPECT_FALSE(parse_destination(std::string(100000, 'a')).has_value());
}

TEST(DestinationTest, EachPlaceHasOneSpelling) {
  for (const std::string_view text :
       {"::ffff:10.0.0.1", "[::ffff:10.0.0.1]", "[::FFFF:a00:1]:80", "::ffff:10.0.0.0/104"}) {
    const Result<Destination> checked = parse_destination(text);
    ASSERT_FALSE(checked.has_value()) << text;
    EXPECT_THAT(checked.error().hint, testing::StartsWith("write 10.0.0."));
  }
  EXPECT_FALSE(parse_udp_destination("[::ffff:10.0.0.1]:53").has_value());
}

TEST(DestinationTest, ANetworkWithMoreBitsIsToldHowToBeWritten) {
  const Result<Destination> four = parse_destination("10.1.2.3/12");
  ASSERT_FALSE(four.has_value());
  EXPECT_EQ(four.error().hint, "write 10.0.0.0/12, or the address alone");
  const Result<Destination> six = parse_destination("2001:db8:ffff::1/33");
  ASSERT_FALSE(six.has_value());
  EXPECT_EQ(six.error().hint, "write 2001:db8:8000::/33, or the address alone");
}

TEST(UdpDestinationTest, AddressesAndNetworksHaveAPort) {
  for (const std::string_view text :
       {"10.0.0.1:53", "10.0.0.0/8:5000", "0.0.0.0/0:1", "[::1]:65535", "[fd00::/8]:5000"})
    EXPECT_EQ(to_text(parse_udp_destination(text).value()), text);
  EXPECT_EQ(to_text(parse_udp_destination("[FD00::1]:53").value()), "[fd00::1]:53");
}

TEST(UdpDestinationTest, EverythingElseIsRefused) {
  for (const std::string_view text : {"",
                                      "10.0.0.1",
                                      "10.0.0.0/8",
                                      "10.0.0.1:",
                                      "10.0.0.1:0",
                                      "10.0.0.1:65536",
                                      "10.0.0.1:dns",
                                      "10.0.0.1/8:53",
                                      "10.0.0.0/33:53",
                                      "10.0.0.0/:53",
                                      "127.1:53",
                                      "example.com:53",
                                      "*.example.com:53",
                                      "fd00::1:53",
                                      "[fd00::1]",
                                      "[fd00::1]53",
                                      "[fd00::1",
                                      "[10.0.0.1]:53",
                                      "[fd00::1/8]:53",
                                      "[fd00::/129]:53",
                                      "fd00::/8:53",
                                      "10.0.0.1:53:53",
                                      ":53",
                                      "[]:53",
                                      "10.0.0.1 :53"}) {
    const Result<Destination> checked = parse_udp_destination(text);
    EXPECT_FALSE(checked.has_value()) << text;
    if (!checked) {
      EXPECT_FALSE(checked.error().subject.empty()) << text;
    }
  }
}

TEST(UdpDestinationTest, TheErrorSaysHowToWriteIt) {
  const Error error = parse_udp_destination("dns.example.com:53").error();
  EXPECT_EQ(error.subject, "\"dns.example.com:53\" is not for an IP address or a network of them");
  EXPECT_EQ(error.hint,
            "write ADDRESS:PORT or NETWORK:PORT, like 10.0.0.0/8:5000 or [fd00::/8]:5000");
}

}  // namespace
}  // namespace coop
