// Input of hostile clients to the DNS, TLS, SOCKS and HTTP parsers of the egress.
#include <gtest/gtest.h>

#include "egress/dns/message.h"
#include "egress/proxy/request.h"
#include "egress/proxy/socks5.h"
#include "egress/tls/client_hello.h"

namespace coop::egress {
namespace {

using namespace std::literals;

std::string dns_name(std::initializer_list<std::string_view> labels) {
  std::string bytes;
  for (const std::string_view label : labels)
    bytes += static_cast<char>(label.size()) + std::string(label);
  return bytes + '\0';
}

std::string question(const std::string& name, std::uint16_t type = kDnsA,
                     const std::string& flags = "\x01\x00"s) {
  return "\x12\x34"s + flags + "\0\x01\0\0\0\0\0\0"s + name + "\0"s + static_cast<char>(type) +
         "\0\x01"s;
}

TEST(DnsMessageTest, ReadsAQuestionAndKeepsItsLetters) {
  const Result<DnsQuestion> read = parse_question(question(dns_name({"ExAmPlE", "com"}), kDnsAaaa));
  ASSERT_TRUE(read.has_value()) << to_text(read.error());
  EXPECT_EQ(read->id, 0x1234);
  EXPECT_EQ(read->name, "example.com");
  EXPECT_EQ(read->type, kDnsAaaa);
  EXPECT_TRUE(read->recursion_desired);
  EXPECT_EQ(read->asked, dns_name({"ExAmPlE", "com"}) + "\0\x1c\0\x01"s);
}

TEST(DnsMessageTest, AnswersInTheFormResolversRead) {
  const DnsQuestion asked = *parse_question(question(dns_name({"a", "example"})));
  const std::vector<std::string> addresses{"\xc6\x12\x01\x00"s};
  EXPECT_EQ(dns_answer(asked, DnsCode::no_error, addresses, 5),
            "\x12\x34\x81\x80\0\x01\0\x01\0\0\0\0"s + dns_name({"a", "example"}) + "\0\x01\0\x01"s +
                "\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04\xc6\x12\x01\x00"s);
  EXPECT_EQ(dns_answer(asked, DnsCode::no_such_name),
            "\x12\x34\x81\x83\0\x01\0\0\0\0\0\0"s + dns_name({"a", "example"}) + "\0\x01\0\x01"s);
  EXPECT_EQ(dns_failure(question(dns_name({"a b"})), DnsCode::refused),
            "\x12\x34\x81\x85\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(dns_failure("\x12"s, DnsCode::refused), "");
  EXPECT_EQ(dns_failure(question(dns_name({"a"}), kDnsA, "\x81\x00"s), DnsCode::refused), "");
}

TEST(DnsMessageTest, EverythingElseIsRefused) {
  const std::string good = question(dns_name({"a", "example"}));
  ASSERT_TRUE(parse_question(good).has_value());
  EXPECT_TRUE(
      parse_question(good.substr(0, 11) + "\x01" + good.substr(12) + "\0\0\x29\x10\0\0\0\0\0\0\0"s)
          .has_value());  // EDNS
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_question(good.substr(0, size)).has_value()) << size;
  for (const std::string& message :
       {question(dns_name({})), question(dns_name({"a.b", "example"})),
        question(dns_name({"a\0b"s})), question(dns_name({"b\xc3\xbc"s})), question("\xc0\x0c"s),
        question("\x40"
                 "a\0"s),
        question(dns_name({"127", "0", "0", "1"})), question(dns_name({"a"}), kDnsA, "\x81\x00"s),
        question(dns_name({"a"}), kDnsA, "\x28\x00"s), good + std::string(5000, 'x')})
    EXPECT_FALSE(parse_question(message).has_value());
  std::string two = good;
  two[5] = 2;
  EXPECT_FALSE(parse_question(two).has_value());
  std::string chaos = good;
  chaos.back() = 3;
  EXPECT_FALSE(parse_question(chaos).has_value());
}

TEST(DnsMessageTest, APlainQueryMayHaveAnyNameAndEdns) {
  const std::string opt = "\0\0\x29\x10\0\0\0\x80\0\0\x04\0\x0a\0\0"s;
  const std::string label(63, 'a');
  const std::string longest = dns_name({label, label, label, std::string(61, 'a')});
  ASSERT_EQ(longest.size(), 255U);
  for (const std::string& name :
       {dns_name({}), dns_name({"_sip", "_tcp", "example"}), dns_name({"a.b\xff\0"s}), longest}) {
    const std::string good = question(name, 33);
    std::string edns = good + opt;
    edns[11] = 1;
    EXPECT_TRUE(is_plain_query(good));
    EXPECT_TRUE(is_plain_query(edns));
    for (std::size_t size = 0; size < edns.size(); ++size)
      EXPECT_FALSE(is_plain_query(edns.substr(0, size))) << size;
    for (std::size_t size = 0; size < good.size(); ++size)
      EXPECT_FALSE(is_plain_query(good.substr(0, size))) << size;
    EXPECT_FALSE(is_plain_query(good + opt));
    EXPECT_FALSE(is_plain_query(good + '\0'));
    EXPECT_FALSE(is_plain_query(edns + '\0'));
    // Another record than OPT (TSIG), and one with a name.
    for (const std::size_t place : {good.size(), good.size() + 1, good.size() + 2}) {
      std::string other = edns;
      other[place] = '\xfa';
      EXPECT_FALSE(is_plain_query(other)) << place;
    }
    for (const std::size_t place : {4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U}) {
      std::string other = edns;
      ++other[place];
      EXPECT_FALSE(is_plain_query(other)) << place;
    }
    for (const char flag : {'\x80', '\x08', '\x10', '\x20', '\x28', '\x40'}) {
      std::string other = good;
      other[2] = flag;
      EXPECT_FALSE(is_plain_query(other)) << flag;
    }
    for (unsigned type = 0; type < 256; ++type)
      EXPECT_EQ(is_plain_query(question(name, static_cast<std::uint16_t>(type))),
                type < 251 || type > 254)
          << type;
    std::string chaos = good;
    chaos.back() = 3;
    EXPECT_FALSE(is_plain_query(chaos));
  }
  EXPECT_FALSE(is_plain_query(question(dns_name({label, label, label, std::string(62, 'a')}))));
  EXPECT_FALSE(is_plain_query(question("\xc0\x0c"s)));
  EXPECT_FALSE(is_plain_query(question("\x01"s + "a\xc0\x0c"s)));
  EXPECT_FALSE(is_plain_query(question("\x40"s + std::string(64, 'a') + '\0')));
}

std::string counted(std::size_t size, const std::string& content) {
  std::string length;
  for (std::size_t byte = size; byte-- > 0;)
    length += static_cast<char>(content.size() >> (8 * byte));
  return length + content;
}

std::string name_extension(const std::string& name) {
  return "\0\0"s + counted(2, counted(2, "\0"s + counted(2, name)));
}

std::string handshake(const std::string& extensions) {
  const std::string body = "\x03\x03"s + std::string(32, 'r') + counted(1, "") +
                           counted(2, "\x13\x01") + counted(1, "\0"s) + counted(2, extensions);
  return "\x01" + counted(3, body);
}

std::string record(const std::string& content) { return "\x16\x03\x01" + counted(2, content); }

TEST(ClientHelloTest, FindsTheName) {
  const std::string hello = record(handshake("\0\x17\0\0"s + name_extension("Example.com")));
  EXPECT_EQ(
      read_client_hello(hello),
      (ClientHello{.kind = ClientHello::Kind::named, .name = "example.com", .size = hello.size()}));
  EXPECT_EQ(read_client_hello(hello + "more").name, "example.com");
  for (std::size_t size = 0; size < hello.size(); ++size)
    EXPECT_EQ(read_client_hello(hello.substr(0, size)).kind, ClientHello::Kind::need_more) << size;
}

TEST(ClientHelloTest, FindsItInSeveralRecords) {
  const std::string whole = handshake(name_extension("example.com"));
  for (std::size_t cut = 1; cut < whole.size(); ++cut)
    EXPECT_EQ(read_client_hello(record(whole.substr(0, cut)) + record(whole.substr(cut))).name,
              "example.com")
        << cut;
}

// A TLS 1.3 server may send a HelloRetryRequest, and then gets a second ClientHello.
TEST(ClientHelloTest, FindsASecondOne) {
  const std::string hello = record(handshake(name_extension("other.example")));
  const std::string change = "\x14\x03\x03\0\x01\x01"s;
  for (const std::string& bytes : {hello, change + hello, change + hello + "more"}) {
    EXPECT_EQ(read_second_hello(bytes).name, "other.example");
    EXPECT_EQ(read_second_hello(bytes).size, bytes.size() - (bytes.ends_with("more") ? 4 : 0));
  }
  for (std::size_t size = 0; size < change.size() + hello.size(); ++size)
    EXPECT_EQ(read_second_hello((change + hello).substr(0, size)).kind,
              ClientHello::Kind::need_more);
  const std::string early = "\x17\x03\x03\0\x05hello"s;
  EXPECT_EQ(read_second_hello(change + early + early + hello).name, "other.example");
  EXPECT_EQ(read_second_hello(early + early.substr(0, 4)).kind, ClientHello::Kind::need_more);
  EXPECT_EQ(read_second_hello(early + change + hello).kind, ClientHello::Kind::malformed);
  std::string much;
  while (much.size() < 30000) much += "\x17\x03\x03\x10\0"s + std::string(4096, 'x');
  EXPECT_EQ(read_second_hello(much + hello).kind, ClientHello::Kind::malformed);
  // What follows in the record of the first ClientHello is seen by the server only.
  EXPECT_EQ(read_client_hello(record(handshake("") + handshake(name_extension("a.example")))).kind,
            ClientHello::Kind::malformed);
  EXPECT_EQ(
      read_client_hello(record(handshake("") + "more").substr(0, handshake("").size() + 5)).kind,
      ClientHello::Kind::malformed);

  const std::string retry =
      "\x16\x03\x03\0\x58\x02\0\0\x54\x03\x03"
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"s;
  EXPECT_EQ(retry.size(), kServerHelloHead);
  EXPECT_TRUE(asks_for_second_hello(retry));
  EXPECT_TRUE(asks_for_second_hello(retry + "more"));
  EXPECT_FALSE(asks_for_second_hello(retry.substr(0, retry.size() - 1)));
  for (const std::size_t place : {0U, 5U, 11U, 42U}) {
    std::string other = retry;
    other[place] ^= 1;
    EXPECT_FALSE(asks_for_second_hello(other)) << place;
  }
}

TEST(ClientHelloTest, TellsWhatItIsNot) {
  using Kind = ClientHello::Kind;
  EXPECT_EQ(read_client_hello("GET / HTTP/1.1\r\n").kind, Kind::not_tls);
  EXPECT_EQ(read_client_hello("SSH-2.0-x\r\n").kind, Kind::not_tls);
  // Many protocols start with the length of a message.
  EXPECT_EQ(read_client_hello("\x16\0\0\0\x07\0\0\0"s).kind, Kind::not_tls);
  EXPECT_EQ(read_client_hello("\x15\0\0\0\x02\0\0\0"s).kind, Kind::not_tls);
  EXPECT_EQ(read_client_hello("\x17\0\0\0"s).kind, Kind::not_tls);
  EXPECT_EQ(read_client_hello(record(handshake("\0\x17\0\0"s))).kind, Kind::no_name);
  EXPECT_TRUE(read_client_hello(record(handshake("\xfe\x0d\0\0"s + name_extension("a.example"))))
                  .encrypted);
}

TEST(ClientHelloTest, OddOnesAreMalformed) {
  const std::string two_in_one =
      "\0\0"s +
      counted(2, counted(2, "\0"s + counted(2, "a.example") + "\0"s + counted(2, "b.example")));
  for (const std::string& hello :
       {record(handshake(name_extension("a.example") + name_extension("b.example"))),
        record(handshake(two_in_one)), record(handshake(name_extension("a\0.example"s))),
        record(handshake(name_extension("127.0.0.1"))),
        record(handshake(name_extension("a.example."))), record(handshake(name_extension(""))),
        record(handshake("\0\0\xff\xff"s)), record("\x02" + counted(3, "x")), record(""),
        record("\x01\xff\xff\xff"s + std::string(100, 'x'))})
    EXPECT_EQ(read_client_hello(hello).kind, ClientHello::Kind::malformed);
  // Records that a lax server skips, before the ClientHello or within it.
  const std::string whole = handshake(name_extension("evil.example"));
  const std::string alert = "\x15\x03\x01\0\x02\x01\0"s;
  EXPECT_EQ(read_client_hello(alert + record(whole)).kind, ClientHello::Kind::malformed);
  EXPECT_EQ(read_client_hello(record(whole.substr(0, 9)) + alert + record(whole.substr(9))).kind,
            ClientHello::Kind::malformed);
  EXPECT_EQ(read_client_hello(record(whole.substr(0, 9)) + "GET /").kind,
            ClientHello::Kind::malformed);
  EXPECT_EQ(read_client_hello("\x15"s).kind, ClientHello::Kind::need_more);
  // Versions that only some servers check.
  for (const char major : {'\0', '\x02', '\x04', '\x10', '\xff'}) {
    std::string other = record(whole);
    other[1] = major;
    std::string warning = alert;
    warning[1] = major;
    EXPECT_EQ(read_client_hello(other.substr(0, 5)).kind, ClientHello::Kind::need_more);
    EXPECT_EQ(read_client_hello(other).kind, ClientHello::Kind::malformed);
    EXPECT_EQ(read_client_hello(warning + record(whole)).kind, ClientHello::Kind::malformed);
    for (std::string first :
         {"\x16\x03\x01\0\0"s, "\x14\x03\x01\0\x01\x01"s, "\x16\x03\x01\x50\0\x01"s}) {
      first[1] = major;
      EXPECT_EQ(read_client_hello(first + record(whole)).kind, ClientHello::Kind::malformed);
    }
  }
  std::string endless;
  while (endless.size() < 30000)
    endless += record("\x01"s.substr(0, endless.empty() ? 1 : 0) + std::string(1, '\0'));
  EXPECT_NE(read_client_hello(endless).kind, ClientHello::Kind::need_more);
}

TEST(Socks5Test, ReadsGreetingsAndRequests) {
  EXPECT_EQ(read_socks_greeting("\x05\x02\x02\x00"s),
            (SocksGreeting{.state = Arrived::whole, .size = 4, .without_password = true}));
  EXPECT_FALSE(read_socks_greeting("\x05\x01\x02"s).without_password);
  EXPECT_EQ(read_socks_greeting("\x05"s).state, Arrived::need_more);
  EXPECT_EQ(read_socks_greeting("\x04\x01"s).state, Arrived::bad);
  EXPECT_EQ(read_socks_greeting("\x05\x00"s).state, Arrived::bad);
  const std::string named =
      "\x05\x01\x00\x03\x09"
      "A.example\x01\xbb"s;
  EXPECT_EQ(read_socks_request(named),
            (SocksRequest{.state = Arrived::whole,
                          .size = named.size(),
                          .target = {HostKind::name, "a.example", 443}}));
  for (std::size_t size = 0; size < named.size(); ++size)
    EXPECT_EQ(read_socks_request(named.substr(0, size)).state, Arrived::need_more) << size;
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s).target,
            (Target{HostKind::address, "127.0.0.1", 80}));
  EXPECT_EQ(
      read_socks_request("\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01\x00\x50"s).target.host,
      "::1");
  EXPECT_EQ(socks_reply(SocksReply::not_allowed), "\x05\x02\x00\x01\0\0\0\0\0\0"s);
  EXPECT_EQ(socks_method({.without_password = true}), "\x05\x00"s);
  EXPECT_EQ(socks_method({}), "\x05\xff"s);
}

TEST(Socks5Test, RefusesWhatIsNoConnection) {
  EXPECT_EQ(read_socks_request("\x05\x02"s).problem, SocksReply::command_not_supported);
  EXPECT_EQ(read_socks_request("\x05\x03"s).problem, SocksReply::command_not_supported);
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x09\x01"s).problem, SocksReply::address_not_supported);
  for (const std::string& host : {"a\0b"s, "127.1"s, "a b"s, "[::1]"s, ""s})
    EXPECT_EQ(read_socks_request("\x05\x01\x00\x03"s + static_cast<char>(host.size()) + host +
                                 "\x00\x50xx"s)
                  .state,
              Arrived::bad)
        << host;
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x01\x01\x02\x03\x04\x00\x00"s).state, Arrived::bad);
}

TEST(ProxyRequestTest, ReadsConnect) {
  const std::string text = "CONNECT Example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
  EXPECT_EQ(read_proxy_request(text + "\x16\x03\x01"),
            (ProxyRequest{.kind = ProxyRequest::Kind::connect,
                          .target = {HostKind::name, "example.com", 443},
                          .size = text.size()}));
  EXPECT_EQ(read_proxy_request("CONNECT [2001:DB8::1]:443 HTTP/1.1\r\n\r\n").target,
            (Target{HostKind::address, "2001:db8::1", 443}));
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(read_proxy_request(text.substr(0, size)).kind, ProxyRequest::Kind::need_more) << size;
}

TEST(ProxyRequestTest, ForwardsWithAHeadOfItsOwn) {
  const ProxyRequest read = read_proxy_request(
      "GET http://Example.com:8080/a?b#c HTTP/1.1\r\nHost: example.com:8080\r\nConnection: "
      "keep-alive, X-A\r\n"
      "Proxy-Authorization: Basic x\r\nAccept: */*\r\n\r\n");
  EXPECT_EQ(read.kind, ProxyRequest::Kind::forward) << read.problem;
  EXPECT_EQ(read.target, (Target{HostKind::name, "example.com", 8080}));
  EXPECT_EQ(
      read.head,
      "GET /a?b HTTP/1.1\r\nHost: Example.com:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(read_proxy_request("GET http://a.example HTTP/1.1\r\n\r\n").target.port, 80);
}

TEST(ProxyRequestTest, WhatTwoReadersCouldReadDifferentlyIsRefused) {
  const auto get = [](const std::string& fields) {
    return "POST http://a.example/ HTTP/1.1\r\n" + fields + "\r\n";
  };
  ASSERT_EQ(read_proxy_request(get("Content-Length: 5\r\n")).kind, ProxyRequest::Kind::forward);
  for (const std::string& text :
       {get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        get("Content-Length: 5\r\nContent-Length: 5\r\n"),
        get("Content-Length: 5, 6\r\n"),
        get("Content-Length: +5\r\n"),
        get("Content-Length:\r\n"),
        get("Transfer-Encoding: gzip, chunked\r\n"),
        get("Transfer-Encoding : chunked\r\n"),
        get("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        get("A: b\r\n folded\r\n"),
        get("A: b\nContent-Length: 5\r\n"),
        get("A: b\rB: c\r\n"),
        get("A: \0\r\n"s),
        get(": b\r\n"),
        get("A\r\n"),
        get("Host: a.example\r\nHost: b.example\r\n"),
        get("Host: b.example\r\n"),
        get("Host: a.example:81\r\n"),
        "GET http://a.example@b.example/ HTTP/1.1\r\n\r\n"s,
        "GET http://a.example/ HTTP/2.0\r\n\r\n"s,
        "GET http://a.example/ x HTTP/1.1\r\n\r\n"s,
        "GET  HTTP/1.1\r\n\r\n"s,
        "GET /path HTTP/1.1\r\n\r\n"s,
        "GET https://a.example/ HTTP/1.1\r\n\r\n"s,
        "GET ftp://a.example/ HTTP/1.1\r\n\r\n"s,
        "GET http:///path HTTP/1.1\r\n\r\n"s,
        "GET http://a.example:0/ HTTP/1.1\r\n\r\n"s,
        "GET http://a.example:99999/ HTTP/1.1\r\n\r\n"s,
        "GET http://127.1/ HTTP/1.1\r\n\r\n"s,
        "GET http://0x7f.0.0.1/ HTTP/1.1\r\n\r\n"s,
        "CONNECT a.example HTTP/1.1\r\n\r\n"s,
        "CONNECT a.example:443/x HTTP/1.1\r\n\r\n"s,
        "CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n"s,
        "CONNECT http://a.example:443 HTTP/1.1\r\n\r\n"s,
        "\x16\x03\x01"s,
        "\n"s,
        std::string(20000, 'a')})
    EXPECT_EQ(read_proxy_request(text).kind, ProxyRequest::Kind::bad) << text.substr(0, 90);
}

}  // namespace
}  // namespace coop::egress
