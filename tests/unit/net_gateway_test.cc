// Connections through the gateway, on real sockets; only where they were going is made up.
#include "net/gateway.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

namespace coop::net {
namespace {

using namespace std::literals;

struct Listener {
  UniqueFd socket{};
  std::uint16_t port = 0;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Listener listen_on_loopback() {
  Listener listener{.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.socket.get(), 512), 0);
  ::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  listener.port = ntohs(address.sin_port);
  return listener;
}

// A server outside that answers each connection with `greeting` and then with what it was sent.
class Echo {
 public:
  explicit Echo(std::string greeting = {}) : greeting_(std::move(greeting)) {
    thread_ = std::thread([this] {
      while (true) {
        UniqueFd client(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client.valid()) return;
        ++connections;
        static_cast<void>(write_all(client.get(), greeting_, "client"));
        const Result<std::string> said = read_all(client.get(), "client");
        if (said) static_cast<void>(write_all(client.get(), *said, "client"));
      }
    });
  }
  ~Echo() {
    ::shutdown(listener_.socket.get(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port() const { return listener_.port; }
  std::atomic<int> connections = 0;

 private:
  std::string greeting_;
  Listener listener_ = listen_on_loopback();
  std::thread thread_{};
};

class World {
 public:
  explicit World(std::uint16_t port) : port_(port) {
    rules_.allowed = {{"good.example:" + std::to_string(port), "policy.toml:3"},
                      {"inside.example:" + std::to_string(port), "policy.toml:4"},
                      {"both.example:" + std::to_string(port), "policy.toml:5"},
                      {"nowhere.example:" + std::to_string(port), "policy.toml:6"}};
    GatewayOptions options;
    options.look_up = [this](const std::string& name, const auto& found) {
      if (name == "good.example") return found(std::vector<std::string>{"127.0.0.9", "127.0.0.1"});
      if (name == "inside.example") return found(std::vector<std::string>{"10.0.0.1"});
      if (name == "both.example") return found(std::vector<std::string>{"127.0.0.1", "10.0.0.1"});
      found(system_error_of(ENOENT, "look up", name));
    };
    options.why_forbidden = [](const std::string& address) {
      return address.starts_with("10.") ? "private"s : ""s;
    };
    options.destination = [this](int) -> Result<Destination> {
      return Destination{wanted_, wanted_port_};
    };
    options.record = [this](const ConnectionEvent& event) { events.push_back(event); };
    gateway_ = std::make_unique<Gateway>(*loop_, table_, rules_, std::move(options));
    Listener listener = listen_on_loopback();
    entrance_ = listener.port;
    EXPECT_TRUE(gateway_->serve(std::move(listener.socket)).has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~World() { finish(); }
  void finish() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
  }

  // A connection that was going to this name.
  UniqueFd connect(const std::string& name) {
    wanted_ = NameTable::ipv4(*table_.number_of(name));
    return connect_to(wanted_, port_);
  }
  UniqueFd connect_to(const std::string& address, std::uint16_t port) {
    wanted_ = address;
    wanted_port_ = port;
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in entrance = loopback(entrance_);
    EXPECT_EQ(
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&entrance), sizeof entrance), 0);
    const timeval limit{20, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket;
  }
  // What comes back for what is said; "" when the connection breaks.
  std::string say(const std::string& name, const std::string& text) {
    const UniqueFd socket = connect(name);
    static_cast<void>(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
    ::shutdown(socket.get(), SHUT_WR);
    return read_all(socket.get(), "socket").value_or("");
  }

  std::vector<ConnectionEvent> events{};  // to be looked at after finish()

 private:
  std::uint16_t port_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  NameTable table_{};
  HostRules rules_{};
  std::string wanted_{};
  std::uint16_t wanted_port_ = 0;
  std::unique_ptr<Gateway> gateway_{};
  std::uint16_t entrance_ = 0;
  std::thread thread_{};
};

TEST(GatewayTest, AllowedNamesAreReachedAtTheFirstAddressThatAnswers) {
  Echo echo;
  World world(echo.port());
  EXPECT_EQ(world.say("good.example", "hello"), "hello");
  world.finish();
  ASSERT_EQ(world.events.size(), 1U);
  const ConnectionEvent& event = world.events.front();
  EXPECT_EQ(event.host, "good.example");
  EXPECT_EQ(event.address, "127.0.0.1");
  EXPECT_EQ(event.rule, "policy.toml:3 good.example:" + std::to_string(echo.port()));
  EXPECT_EQ(event.bytes.to_server, 5U);
  EXPECT_EQ(event.bytes.to_client, 5U);
  EXPECT_TRUE(event.allowed);
}

TEST(GatewayTest, EverythingElseIsResetAndNobodyIsReached) {
  Echo echo;
  World world(echo.port());
  EXPECT_EQ(world.say("other.example", "hello"), "");
  EXPECT_EQ(world.say("inside.example", "hello"), "");
  EXPECT_EQ(world.say("both.example", "hello"), "");
  EXPECT_EQ(world.say("nowhere.example", "hello"), "");
  char byte = 0;
  EXPECT_LE(::recv(world.connect_to("\x7f\0\0\x01"s, echo.port()).get(), &byte, 1, 0), 0);
  world.finish();
  std::vector<std::string> seen;
  for (const ConnectionEvent& event : world.events)
    seen.push_back(event.host + ": " +
                   (event.allowed ? event.problem : event.rule + " " + event.problem));
  EXPECT_EQ(
      seen,
      (std::vector<std::string>{
          "other.example: no rule allows it ", "inside.example: address guard 10.0.0.1 is private",
          "both.example: address guard 10.0.0.1 is private",
          "nowhere.example: look up \"nowhere.example\": ENOENT (No such file or directory)",
          "127.0.0.1: no rule allows it "}));
  EXPECT_EQ(echo.connections, 0);
}

std::string counted(std::size_t size, const std::string& content) {
  std::string length;
  for (std::size_t byte = size; byte-- > 0;)
    length += static_cast<char>(content.size() >> (8 * byte));
  return length + content;
}

std::string client_hello(const std::string& name) {
  const std::string extension = "\0\0"s + counted(2, counted(2, "\0"s + counted(2, name)));
  const std::string body = "\x03\x03"s + std::string(32, 'r') + counted(1, "") +
                           counted(2, "\x13\x01") + counted(1, "\0"s) + counted(2, extension);
  return "\x16\x03\x01" + counted(2, "\x01" + counted(3, body));
}

TEST(GatewayTest, TheNameInTlsMustBeTheNameThatWasAsked) {
  Echo echo;
  World world(echo.port());
  const std::string agreed = client_hello("good.example");
  EXPECT_EQ(world.say("good.example", agreed), agreed);
  EXPECT_EQ(world.say("good.example", client_hello("other.example")), "");
  EXPECT_EQ(world.say("good.example", client_hello("a\0b"s)), "");
  world.finish();
  ASSERT_EQ(world.events.size(), 3U);
  EXPECT_EQ(world.events[1].rule, "TLS guard");
  EXPECT_EQ(world.events[1].problem, "its TLS asks for other.example");
  EXPECT_EQ(world.events[1].bytes.to_server, 0U);
}

TEST(GatewayTest, ServersThatSpeakFirstAreHeard) {
  Echo echo("220 welcome\r\n");
  World world(echo.port());
  const UniqueFd socket = world.connect("good.example");
  char buffer[64];
  const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, 0);
  EXPECT_EQ(std::string_view(buffer, size > 0 ? static_cast<std::size_t>(size) : 0),
            "220 welcome\r\n");
}

TEST(GatewayTest, ManyOneAfterTheOtherLeaveNothingBehind) {
  Echo echo;
  World world(echo.port());
  for (int count = 0; count < 200; ++count)
    ASSERT_EQ(world.say("good.example", std::to_string(count)), std::to_string(count));
  world.finish();
  EXPECT_EQ(world.events.size(), 200U);
}

}  // namespace
}  // namespace coop::net
