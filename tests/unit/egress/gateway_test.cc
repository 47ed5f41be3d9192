// Connections through the transparent gateway and to the host's ports.
#include "egress/gateway.h"

#include "net_world.h"

namespace coop::egress {
namespace {

using namespace std::literals;

TEST(GatewayTest, AllowedNamesAreReachedAtTheFirstAddressThatAnswers) {
  Echo echo;
  World world(echo.port());
  EXPECT_EQ(world.say_to("good.example", "hello"), "hello");
  world.finish();
  const NetworkEvent expected{
      .kind = NetworkEvent::Kind::connection,
      .host = "good.example",
      .address = "127.0.0.1",
      .port = echo.port(),
      .allowed = true,
      .rule = decided_in(3, "good.example:" + std::to_string(echo.port())),
      .sent = 5,
      .received = 5,
  };
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_TRUE(world.events.front() == expected) << world.events.front().problem;
}

TEST(GatewayTest, EverythingElseIsResetAndNoServerIsReached) {
  Echo echo;
  World world(echo.port());
  EXPECT_EQ(world.say_to("other.example", "hello"), "");
  EXPECT_EQ(world.say_to("inside.example", "hello"), "");
  EXPECT_EQ(world.say_to("both.example", "hello"), "");
  EXPECT_EQ(world.say_to("nowhere.example", "hello"), "");
  EXPECT_EQ(hear(world.connect_to("\x7f\0\0\x01"s, echo.port()), 1), "");
  // The same address, as IPv6 writes it.
  EXPECT_EQ(hear(world.connect_to("\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01"s, echo.port()), 1),
            "");
  world.finish();
  EXPECT_EQ(
      told(world.events),
      (std::vector<std::string>{
          "other.example: no rule allows it ", "inside.example: address guard 10.0.0.1 is private",
          "both.example: address guard 10.0.0.1 is private",
          "nowhere.example: look up \"nowhere.example\": ENOENT (No such file or directory)",
          "127.0.0.1: no rule allows it ", "127.0.0.1: no rule allows it "}));
  EXPECT_EQ(world.events.front().grant,
            (Grant{"--allow-net", "other.example:" + std::to_string(echo.port())}));
  EXPECT_EQ(echo.connections, 0);
}

TEST(GatewayTest, TheNameInTlsMustBeTheNameThatWasAsked) {
  Echo echo;
  World world(echo.port());
  const std::string agreed = client_hello("good.example");
  EXPECT_EQ(world.say_to("good.example", agreed), agreed);
  EXPECT_EQ(world.say_to("good.example", client_hello("other.example")), "");
  EXPECT_EQ(world.say_to("good.example", client_hello("a\0b"s)), "");
  world.finish();
  ASSERT_EQ(world.events.size(), 3U);
  EXPECT_EQ(world.events[1].rule, Rule::of_coop(Part::tls_guard));
  EXPECT_EQ(world.events[1].problem, "the TLS ClientHello names other.example");
  EXPECT_EQ(world.events[1].sent, 0U);
}

TEST(GatewayTest, WaitingDoesNotGetPastTheNameInTls) {
  Echo echo;
  World world(echo.port(), {.head_time = 50ms});
  const UniqueFd silent = world.connect("good.example");
  std::this_thread::sleep_for(200ms);
  say(silent, client_hello("other.example"));
  EXPECT_EQ(finish(silent), "");
  const UniqueFd slow = world.connect("good.example");
  say(slow, client_hello("other.example").substr(0, 20));
  EXPECT_EQ(hear_all(slow), "");
  world.finish();
  EXPECT_EQ(
      told(world.events),
      (std::vector<std::string>{"good.example: TLS guard the TLS ClientHello names other.example",
                                "good.example: TLS guard incomplete TLS ClientHello"}));
  EXPECT_EQ(echo.bytes, 0U);
}

TEST(GatewayTest, ServersThatSpeakFirstAreHeard) {
  Echo echo("220 welcome\r\n");
  World world(echo.port());
  const UniqueFd socket = world.connect("good.example");
  EXPECT_EQ(hear(socket, 13), "220 welcome\r\n");
}

TEST(GatewayTest, ManyOneAfterTheOtherLeaveNothingBehind) {
  Echo echo;
  World world(echo.port());
  for (int count = 0; count < 200; ++count)
    ASSERT_EQ(world.say_to("good.example", std::to_string(count)), std::to_string(count));
  world.finish();
  EXPECT_EQ(world.events.size(), 200U);
}

TEST(GatewayTest, ClientsOfHttpAreToldWhyTheyAreRefused) {
  Echo echo;
  World world(echo.port());
  const UniqueFd socket = world.connect("other.example", 80);
  say(socket, "G");
  std::this_thread::sleep_for(20ms);
  say(socket, "ET / HTTP/1.1\r\nHost: other.example\r\n\r\n");
  EXPECT_EQ(hear_all(socket),
            "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 96\r\n"
            "Connection: close\r\nX-Coop-Denied: no rule allows it\r\n\r\n"
            "coop: connection to other.example:80 refused: no rule allows it\n"
            "hint: --allow-net other.example\n");
  world.finish();
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_FALSE(world.events.front().allowed);
}

TEST(GatewayTest, OthersOnThePortOfHttpAreReset) {
  Echo echo;
  World world(echo.port(), {.refused_time = 100ms});
  const UniqueFd other = world.connect("other.example", 80);
  say(other, client_hello("other.example"));
  EXPECT_FALSE(read_all(other.get(), "socket").has_value());
  const UniqueFd silent = world.connect("other.example", 80);
  EXPECT_FALSE(read_all(silent.get(), "socket").has_value());
}

TEST(GatewayTest, HttpIsKnownByItsMethod) {
  EXPECT_EQ(speaks_http(""), SpeaksHttp::maybe);
  EXPECT_EQ(speaks_http("PROPFIND"), SpeaksHttp::maybe);
  EXPECT_EQ(speaks_http("GET "), SpeaksHttp::yes);
  EXPECT_EQ(speaks_http("get /"), SpeaksHttp::no);
  EXPECT_EQ(speaks_http(" "), SpeaksHttp::no);
  EXPECT_EQ(speaks_http("SSH-2.0"), SpeaksHttp::no);
  EXPECT_EQ(speaks_http(std::string(40, 'A')), SpeaksHttp::no);
}

TEST(HostPortTest, ReachesTheLoopbackOfTheHost) {
  Echo echo;
  World world(echo.port());
  const UniqueFd socket = new_socket();
  connect_to_port(socket, world.host_port);
  say(socket, "hello");
  EXPECT_EQ(finish(socket), "hello");
  world.finish();
  const NetworkEvent expected{
      .kind = NetworkEvent::Kind::host_port,
      .host = "localhost",
      .address = "127.0.0.1",
      .port = echo.port(),
      .allowed = true,
      .rule = Rule{Origin::of_flag("--host-port", std::to_string(echo.port()))},
      .sent = 5,
      .received = 5};
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_TRUE(world.events.front() == expected);
}

TEST(HostPortTest, APortWithoutAListenerIsReset) {
  World world(1);
  const UniqueFd socket = new_socket();
  connect_to_port(socket, world.host_port);
  EXPECT_EQ(hear_all(socket), "");
  world.finish();
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_EQ(world.events.front().address, "::1");  // which was tried as well
  EXPECT_NE(world.events.front().problem, "");
}

}  // namespace
}  // namespace coop::egress
