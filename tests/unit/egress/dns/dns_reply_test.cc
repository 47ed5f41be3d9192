// Answers of name servers, honest and forged.
#include <gtest/gtest.h>

#include "egress/dns/message.h"

namespace coop::egress {
namespace {

using namespace std::literals;
using Kind = DnsReply::Kind;

std::string name(std::initializer_list<std::string_view> labels) {
  std::string bytes;
  for (const std::string_view label : labels)
    bytes += static_cast<char>(label.size()) + std::string(label);
  return bytes + '\0';
}

std::string record(const std::string& owner, char type, const std::string& data, char ttl = 9) {
  return owner + "\0"s + type + "\0\x01\0\0\0"s + ttl + "\0"s + static_cast<char>(data.size()) +
         data;
}

const DnsAsked kAsked{.id = 0x1234, .name = "a.example", .type = kDnsA};
const std::string kQuestion = name({"a", "example"}) + "\0\x01\0\x01"s;
const std::string kPointer = "\xc0\x0c"s;  // to the name of the question
constexpr char kA = 1;
constexpr char kCname = 5;

std::string reply(std::initializer_list<std::string> records, const std::string& flags = "\x81\x80",
                  const std::string& question = kQuestion) {
  std::string message = "\x12\x34"s + flags + "\0\x01\0"s;
  message += static_cast<char>(records.size());
  message += "\0\0\0\0"s + question;
  for (const std::string& one : records) message += one;
  return message;
}

DnsReply found(std::vector<std::string> addresses, std::uint32_t ttl = 9) {
  return {.kind = Kind::found, .addresses = std::move(addresses), .ttl = ttl};
}

TEST(DnsReplyTest, AsksInTheFormServersRead) {
  EXPECT_EQ(dns_query(kAsked), "\x12\x34\x01\x00\0\x01\0\0\0\0\0\0"s + kQuestion);
  const Result<DnsQuestion> read = parse_question(dns_query(kAsked));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, "a.example");
}

TEST(DnsReplyTest, TakesTheAddressesOfTheNameThatWasAsked) {
  EXPECT_EQ(read_dns_reply(reply({record(kPointer, kA, "\x01\x02\x03\x04"),
                                  record(name({"A", "eXample"}), kA, "\x05\x06\x07\x08", 7),
                                  record(name({"other"}), kA, "\x0a\x00\x00\x01"s, 1)}),
                           kAsked),
            found({"\x01\x02\x03\x04", "\x05\x06\x07\x08"}, 7));
  const DnsAsked six{.id = 0x1234, .name = "a.example", .type = kDnsAaaa};
  const std::string question = name({"a", "example"}) + "\0\x1c\0\x01"s;
  EXPECT_EQ(read_dns_reply(
                reply({record(kPointer, 28, std::string(16, '\x2a'))}, "\x81\x80"s, question), six),
            found({std::string(16, '\x2a')}));
  EXPECT_EQ(read_dns_reply(reply({}), kAsked), found({}, 0));
}

TEST(DnsReplyTest, WhatAnswersAnotherQuestionIsNone) {
  const std::string good = reply({record(kPointer, kA, "\x01\x02\x03\x04")});
  ASSERT_EQ(read_dns_reply(good, kAsked).kind, Kind::found);
  EXPECT_EQ(read_dns_reply(good, {.id = 0x1235, .name = "a.example", .type = kDnsA}), DnsReply{});
  EXPECT_EQ(read_dns_reply(good, {.id = 0x1234, .name = "b.example", .type = kDnsA}), DnsReply{});
  EXPECT_EQ(read_dns_reply(good, {.id = 0x1234, .name = "a.example", .type = kDnsAaaa}),
            DnsReply{});
  EXPECT_EQ(
      read_dns_reply(reply({}, "\x81\x80"s, name({"a", "example"}) + "\0\x01\0\x03"s), kAsked),
      DnsReply{});
  EXPECT_EQ(read_dns_reply(reply({}, "\x01\x00"s), kAsked), DnsReply{});  // a question
  // A dot inside a label is not a separator.
  EXPECT_EQ(read_dns_reply(reply({}, "\x81\x80"s, name({"a.example"}) + "\0\x01\0\x01"s), kAsked),
            DnsReply{});
  for (std::size_t size = 0; size < 12 + kQuestion.size(); ++size)
    EXPECT_EQ(read_dns_reply(good.substr(0, size), kAsked), DnsReply{}) << size;
}

TEST(DnsReplyTest, CodesOfTheServerAreTold) {
  EXPECT_EQ(read_dns_reply(reply({}, "\x81\x83"), kAsked).kind, Kind::no_such_name);
  EXPECT_EQ(read_dns_reply(reply({}, "\x81\x82"), kAsked).kind, Kind::failed);
  EXPECT_EQ(read_dns_reply(reply({}, "\x81\x85"), kAsked).kind, Kind::failed);
  EXPECT_EQ(read_dns_reply(reply({}, "\x83\x80"), kAsked).kind, Kind::truncated);
}

TEST(DnsReplyTest, FollowsAliasesInAnyOrderAndNoOthers) {
  const std::string b = name({"b", "example"});
  const std::string c = name({"c", "example"});
  EXPECT_EQ(read_dns_reply(reply({record(c, kA, "\x01\x02\x03\x04", 5), record(b, kCname, c, 3),
                                  record(kPointer, kCname, b, 4)}),
                           kAsked),
            found({"\x01\x02\x03\x04"}, 3));
  // The CNAME leads to b: records of c are ignored.
  EXPECT_EQ(read_dns_reply(reply({record(kPointer, kCname, b), record(c, kA, "\x01\x02\x03\x04")}),
                           kAsked),
            found({}, 0));
  // In a circle, and too far.
  EXPECT_EQ(
      read_dns_reply(reply({record(kPointer, kCname, b), record(b, kCname, kPointer)}), kAsked)
          .kind,
      Kind::broken);
  for (const int links : {8, 9}) {
    std::string message = reply({});
    message[7] = static_cast<char>(links + 1);
    std::string owner = kPointer;
    for (int link = 0; link < links; ++link) {
      const std::string next = name({std::string("n") + static_cast<char>('a' + link)});
      message += record(owner, kCname, next);
      owner = next;
    }
    message += record(owner, kA, "\x01\x02\x03\x04");
    EXPECT_EQ(read_dns_reply(message, kAsked).kind, links == 8 ? Kind::found : Kind::broken);
  }
}

TEST(DnsReplyTest, HostileLengthsAndPointersAreBroken) {
  const auto kind = [](const std::string& bytes) {
    std::string message = reply({});
    message[7] = 1;
    return read_dns_reply(message + bytes, kAsked).kind;
  };
  const std::size_t here = 12 + kQuestion.size();
  EXPECT_EQ(kind(""), Kind::broken);
  EXPECT_EQ(kind("\xc0"s), Kind::broken);
  EXPECT_EQ(kind(record("\xc0"s + static_cast<char>(here), kA, "abcd")), Kind::broken);  // itself
  EXPECT_EQ(kind(record("\xff\xff"s, kA, "abcd")), Kind::broken);
  EXPECT_EQ(kind(record("\x80"s + std::string(128, 'x') + "\0"s, kA, "abcd")), Kind::broken);
  EXPECT_EQ(kind(record(kPointer, kA, "abc")), Kind::broken);
  EXPECT_EQ(kind(kPointer + "\0\x01\0\x01\0\0\0\x01\xff\xff"s + "abcd"), Kind::broken);
  EXPECT_EQ(kind(record(kPointer, kCname, name({"b"}) + "x")), Kind::broken);
  EXPECT_EQ(kind(record("\x01"s + "b\xc0" + static_cast<char>(here), kA, "abcd")), Kind::broken);
  std::string overlong;
  for (int count = 0; count < 5; ++count) overlong += "\x3f"s + std::string(63, 'x');
  EXPECT_EQ(kind(record(overlong + '\0', kA, "abcd")), Kind::broken);
}

}  // namespace
}  // namespace coop::egress
