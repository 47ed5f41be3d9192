// The proxy's answers, over HTTP and SOCKS.
#include "egress/proxy/server.h"

#include "net_world.h"

namespace coop::egress {
namespace {

using namespace std::literals;

const std::string kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

std::string connect_head(const std::string& host, std::uint16_t port) {
  const std::string place = host + ":" + std::to_string(port);
  return "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n";
}

std::string status_of(const std::string& response) {
  return response.substr(0, response.find("\r\n"));
}

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

TEST(ProxyTest, ConnectLeadsToTheHost) {
  Echo echo;
  World world(echo.port());
  const UniqueFd socket = world.ask_proxy(connect_head("good.example", echo.port()));
  EXPECT_EQ(hear(socket, kEstablished.size()), kEstablished);
  say(socket, "no TLS");
  EXPECT_EQ(finish(socket), "no TLS");
  world.finish();
  const NetworkEvent expected{.host = "good.example",
                              .address = "127.0.0.1",
                              .port = echo.port(),
                              .allowed = true,
                              .rule = decided_in(3, "good.example:" + std::to_string(echo.port())),
                              .sent = 6,
                              .received = 6};
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_TRUE(world.events.front() == expected);
}

TEST(ProxyTest, WhatWasSentBehindTheHeadIsNotLost) {
  Echo echo;
  World world(echo.port());
  const UniqueFd plain = world.ask_proxy(connect_head("GOOD.example.", echo.port()) + "early");
  EXPECT_EQ(finish(plain), kEstablished + "early");
  const std::string hello = client_hello("good.example");
  const UniqueFd tls = world.ask_proxy(connect_head("good.example", echo.port()) + hello);
  EXPECT_EQ(finish(tls), kEstablished + hello);
  // A head that comes byte by byte.
  const UniqueFd slow = world.ask_proxy("");
  for (const char c : connect_head("good.example", echo.port()) + "x") say(slow, std::string(1, c));
  EXPECT_EQ(finish(slow), kEstablished + "x");
}

TEST(ProxyTest, TheNameInTlsMustBeTheNameOfConnect) {
  Echo echo;
  World world(echo.port());
  const UniqueFd socket = world.ask_proxy(connect_head("good.example", echo.port()));
  EXPECT_EQ(hear(socket, kEstablished.size()), kEstablished);
  say(socket, client_hello("other.example"));
  EXPECT_EQ(finish(socket), "");
  const UniqueFd early =
      world.ask_proxy(connect_head("good.example", echo.port()) + client_hello("other.example"));
  hear_all(early);
  world.finish();
  EXPECT_EQ(told(world.events),
            (std::vector<std::string>(
                2, "good.example: TLS guard the TLS ClientHello names other.example")));
  EXPECT_EQ(echo.bytes, 0U);
}

TEST(ProxyTest, RequestsForHttpAreForwarded) {
  Echo echo;
  World world(echo.port());
  const std::string place = "good.example:" + std::to_string(echo.port());
  const UniqueFd socket =
      world.ask_proxy("POST http://" + place + "/path?x HTTP/1.1\r\nHost: " + place +
                      "\r\nProxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(finish(socket), "POST /path?x HTTP/1.1\r\nHost: " + place +
                                "\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody");
}

TEST(ProxyTest, RefusalsAreExplained) {
  Echo echo;
  World world(echo.port());
  EXPECT_EQ(hear_all(world.ask_proxy(connect_head("evil.example", 443))),
            "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 95\r\n"
            "Connection: close\r\nX-Coop-Denied: no rule allows it\r\n\r\n"
            "coop: connection to evil.example:443 refused: no rule allows it\n"
            "hint: --allow-net evil.example\n");
  EXPECT_EQ(body_of(hear_all(world.ask_proxy("GET http://[2001:db8::1]:81/ HTTP/1.1\r\n\r\n"))),
            "coop: connection to [2001:db8::1]:81 refused: no rule allows it\n"
            "hint: --allow-net [2001:db8::1]:81\n");
  EXPECT_EQ(body_of(hear_all(world.ask_proxy(connect_head("inside.example", echo.port())))),
            "coop: connection to inside.example:" + std::to_string(echo.port()) +
                " refused: address guard: 10.0.0.1 is private\nhint: --allow-net 10.0.0.1:" +
                std::to_string(echo.port()) + "\n");
  world.finish();
  EXPECT_EQ(world.events.size(), 3U);
  EXPECT_EQ(echo.connections, 0);
}

TEST(ProxyTest, TheLoopbackOfTheHostIsNotReachedThroughIt) {
  Echo echo;
  World world(echo.port());
  for (const std::string host : {"localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "0.0.0.0",
                                 "[::1]", "[::]", "[::ffff:127.0.0.1]"}) {
    const std::string response = hear_all(world.ask_proxy(connect_head(host, echo.port())));
    EXPECT_EQ(status_of(response), "HTTP/1.1 403 Forbidden") << host;
    EXPECT_NE(response.find("X-Coop-Denied: loopback guard\r\n"), std::string::npos) << host;
  }
  EXPECT_EQ(echo.connections, 0);
}

TEST(ProxyTest, WhatTwoReadersCouldReadDifferentlyIsRefused) {
  Echo echo;
  World world(echo.port());
  const std::string place = "good.example:" + std::to_string(echo.port());
  const std::string line = "GET http://" + place + "/ HTTP/1.1\r\n";
  const std::vector<std::string> heads{
      line + "Host: other.example\r\n\r\n",
      line + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
      line + "X: a\n\r\n\r\n",
      line + "X : a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n",
      "GET https://good.example/ HTTP/1.1\r\n\r\n",
      "CONNECT user@" + place + " HTTP/1.1\r\n\r\n",
      "CONNECT 0x7f.1:80 HTTP/1.1\r\n\r\n",
      "\x16\x03\x01\x02",
  };
  for (const std::string& head : heads)
    EXPECT_EQ(status_of(hear_all(world.ask_proxy(head))), "HTTP/1.1 400 Bad Request") << head;
  world.finish();
  EXPECT_EQ(world.events.size(), heads.size());
  EXPECT_EQ(world.events.front().rule, Rule::of_coop(Part::proxy_guard));
  EXPECT_EQ(echo.connections, 0);
}

TEST(ProxyTest, HostsThatCannotBeReachedAreNamed) {
  Echo echo;
  World world(echo.port(), {.connect_time = 100ms});
  EXPECT_EQ(body_of(hear_all(world.ask_proxy(connect_head("closed.example", 1)))),
            "coop: connection to closed.example:1 failed: ECONNREFUSED (Connection refused)\n");
  const std::string unknown =
      hear_all(world.ask_proxy(connect_head("nowhere.example", echo.port())));
  EXPECT_EQ(status_of(unknown), "HTTP/1.1 502 Bad Gateway");
  const std::string late = hear_all(world.ask_proxy(connect_head("silent.example", echo.port())));
  EXPECT_EQ(status_of(late), "HTTP/1.1 504 Gateway Timeout");
}

TEST(ProxyTest, WhoDoesNotAskInTimeIsClosed) {
  Echo echo;
  World world(echo.port(), {.head_time = 100ms});
  const UniqueFd silent = world.ask_proxy("");
  const UniqueFd slow = world.ask_proxy("CONNECT good.exa");
  const UniqueFd socks = world.ask_proxy("\x05\x01"s);
  EXPECT_EQ(hear_all(silent), "");
  EXPECT_EQ(hear_all(slow), "");
  EXPECT_EQ(hear_all(socks), "");
  // Who has asked may take any time.
  const UniqueFd socket = world.ask_proxy(connect_head("good.example", echo.port()));
  EXPECT_EQ(hear(socket, kEstablished.size()), kEstablished);
  std::this_thread::sleep_for(250ms);
  say(socket, "late");
  EXPECT_EQ(finish(socket), "late");
  world.finish();
  EXPECT_EQ(world.events.size(), 1U);
}

std::string port_bytes(std::uint16_t port) {
  return {static_cast<char>(port >> 8U), static_cast<char>(port & 0xffU)};
}

const std::string kGreeting = "\x05\x01\x00"s;

std::string socks_to_name(const std::string& name, std::uint16_t port) {
  return "\x05\x01\x00\x03"s + static_cast<char>(name.size()) + name + port_bytes(port);
}

// What comes back, without the choice of the method.
std::string ask_socks(World& world, const std::string& request) {
  const UniqueFd socket = world.ask_proxy(kGreeting);
  EXPECT_EQ(hear(socket, 2), "\x05\x00"s);
  say(socket, request);
  return finish(socket);
}

std::string reply(char code) { return "\x05"s + code + "\x00\x01\0\0\0\0\0\0"s; }

TEST(ProxyTest, SocksLeadsToNamesAndToAddressesThatStandForThem) {
  Echo echo;
  World world(echo.port());
  const std::uint16_t port = echo.port();
  EXPECT_EQ(ask_socks(world, socks_to_name("Good.example", port) + "early"), reply(0) + "early");
  const std::uint32_t number = *world.table.number_of("good.example");
  const std::string four = NameTable::ipv4(number) + port_bytes(port);
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x01"s + four + "4"), reply(0) + "4");
  const std::string six = NameTable::ipv6(number) + port_bytes(port);
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x04"s + six + "6"), reply(0) + "6");
  // All at once, and the TLS of another host.
  EXPECT_EQ(finish(world.ask_proxy(kGreeting + socks_to_name("good.example", port) + "x")),
            "\x05\x00"s + reply(0) + "x");
  const UniqueFd fronting = world.ask_proxy(kGreeting + socks_to_name("good.example", port));
  EXPECT_EQ(hear(fronting, 12), "\x05\x00"s + reply(0));
  say(fronting, client_hello("other.example"));
  EXPECT_EQ(finish(fronting), "");
  world.finish();
  EXPECT_EQ(told(world.events),
            (std::vector<std::string>{
                "good.example: ", "good.example: ", "good.example: ", "good.example: ",
                "good.example: TLS guard the TLS ClientHello names other.example"}));
}

TEST(ProxyTest, SocksSaysHowItFailed) {
  Echo echo;
  World world(echo.port());
  const std::string port = port_bytes(echo.port());
  EXPECT_EQ(ask_socks(world, socks_to_name("evil.example", 443)), reply(2));
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x01\xc6\x33\x64\x07"s + port), reply(2));
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x01\x7f\x00\x00\x01"s + port), reply(2));
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01" + port),
            reply(2));
  EXPECT_EQ(ask_socks(world, socks_to_name("nowhere.example", echo.port())), reply(4));
  // Allowed by its CIDR rule, and of no single host.
  EXPECT_EQ(ask_socks(world, "\x05\x01\x00\x01\xe0\x00\x00\x01\x01\xbb"s), reply(4));
  EXPECT_EQ(ask_socks(world, socks_to_name("closed.example", 1)), reply(5));
  EXPECT_EQ(ask_socks(world, "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50"s), reply(7));
  EXPECT_EQ(hear_all(world.ask_proxy("\x05\x01\x02"s)), "\x05\xff"s);  // only with a password
  EXPECT_EQ(echo.connections, 0);
}

}  // namespace
}  // namespace coop::egress
