// Datagrams through the relay, on loopback: all of 127.0.0.0/8 is local, as everything is in a sandbox.
#include "egress/udp_relay.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "base/address.h"
#include "support/destination_rule.h"

namespace coop::egress {
namespace {

using namespace std::literals;

UniqueFd socket_at(const std::string& address, std::uint16_t port = 0) {
  sockaddr_storage storage{};
  const socklen_t size = fill_socket_address(storage, *address_bytes(address), port);
  UniqueFd socket(::socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), size) < 0) return UniqueFd();
  const timeval limit{5, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return socket;
}

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  return ntohs(
      reinterpret_cast<const sockaddr_in&>(storage).sin_port);  // the same in both families
}

// A connected client: receives from its destination only.
UniqueFd connected(const std::string& address, std::uint16_t port) {
  UniqueFd socket = socket_at(address.find(':') == std::string::npos ? "0.0.0.0" : "::");
  sockaddr_storage storage{};
  const socklen_t size = fill_socket_address(storage, *address_bytes(address), port);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  return socket;
}

void send_text(const UniqueFd& socket, const std::string& text) {
  EXPECT_EQ(::send(socket.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

std::string receive(const UniqueFd& socket, int flags = 0) {
  char buffer[2048];
  const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, flags);
  return size < 0 ? "nothing" : std::string(buffer, static_cast<std::size_t>(size));
}

// Receives one datagram and sends it back; returns the sender.
sockaddr_storage echo(const UniqueFd& socket, const std::string& expected) {
  char buffer[2048];
  sockaddr_storage sender{};
  socklen_t length = sizeof sender;
  const ssize_t size = ::recvfrom(socket.get(), buffer, sizeof buffer, 0,
                                  reinterpret_cast<sockaddr*>(&sender), &length);
  EXPECT_EQ(std::string(buffer, size < 0 ? 0 : static_cast<std::size_t>(size)), expected);
  ::sendto(socket.get(), expected.data(), expected.size(), 0, reinterpret_cast<sockaddr*>(&sender),
           length);
  return sender;
}

// A relay with its own loop; 127.0.0.2, 127.0.0.4 and ::1 are allowed.
class World {
 public:
  explicit World(std::uint16_t port, const std::string& inside = "0.0.0.0",
                 UdpOptions options = {}) {
    rules_ = {
        .allowed = {tests::rule("127.0.0.2", "--allow-udp"),
                    tests::rule("127.0.0.4", "--allow-udp"), tests::rule("::1", "--allow-udp")},
        .remedy = policy::Remedy::allow_udp};
    for (DestinationRule& rule : rules_.allowed) rule.destination.port = port;
    options.judge = [this](const Destination& asked) {
      return policy::judge(rules_, asked, policy::forbidden);
    };
    options.record = [this](const NetworkEvent& event) { events.push_back(event); };
    relay_ = std::make_unique<UdpRelay>(*loop_, std::move(options));
    UniqueFd listener = socket_at(inside);
    entrance = port_of(listener);
    EXPECT_TRUE(relay_->serve(std::move(listener), port).has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~World() { finish(); }
  void finish() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
    relay_.reset();
  }
  std::size_t flows() {
    std::promise<std::size_t> count;
    loop_->post([&] { count.set_value(relay_->flows()); });
    return count.get_future().get();
  }

  std::uint16_t entrance = 0;
  std::vector<NetworkEvent> events{};  // to be looked at after finish()

 private:
  policy::DestinationRules rules_{};
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  std::unique_ptr<UdpRelay> relay_{};
  std::thread thread_{};
};

NetworkEvent flow_to(const std::string& address, std::uint16_t port, std::uint64_t bytes) {
  return {.kind = NetworkEvent::Kind::datagrams,
          .host = address,
          .address = address,
          .port = port,
          .allowed = true,
          .rule = tests::decided_by("--allow-udp", with_port(address, port)),
          .sent = bytes,
          .received = bytes};
}

TEST(UdpRelayTest, AnswersComeFromTheAddressThatWasWrittenTo) {
  const UniqueFd server = socket_at("127.0.0.2");
  World world(port_of(server));
  const UniqueFd client = connected("127.0.0.2", world.entrance);
  for (const char* text : {"hello", "again"}) {
    send_text(client, text);
    echo(server, text);
    EXPECT_EQ(receive(client), text);
  }
  world.finish();
  EXPECT_EQ(world.events, std::vector{flow_to("127.0.0.2", port_of(server), 10)});
}

TEST(UdpRelayTest, OtherDestinationsAreDroppedAndToldOnce) {
  const UniqueFd server = socket_at("127.0.0.3");
  World world(port_of(server));
  const UniqueFd client = connected("127.0.0.3", world.entrance);
  for (int count = 0; count < 5; ++count) send_text(client, "hello");
  EXPECT_EQ(world.flows(), 0U);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(receive(server, MSG_DONTWAIT), "nothing");
  world.finish();
  EXPECT_EQ(world.events,
            std::vector{(NetworkEvent{
                .kind = NetworkEvent::Kind::datagrams,
                .host = "127.0.0.3",
                .port = port_of(server),
                .rule = Rule::of_coop(Part::unlisted),
                .grant = Grant{"--allow-udp", with_port("127.0.0.3", port_of(server))}})});
}

TEST(UdpRelayTest, ClientsAndDestinationsAreToldApart) {
  const UniqueFd two = socket_at("127.0.0.2");
  const UniqueFd four = socket_at("127.0.0.4", port_of(two));
  World world(port_of(two));
  const UniqueFd one_to_two = connected("127.0.0.2", world.entrance);
  const UniqueFd other_to_two = connected("127.0.0.2", world.entrance);
  const UniqueFd one_to_four = connected("127.0.0.4", world.entrance);
  send_text(one_to_two, "a");
  echo(two, "a");
  send_text(other_to_two, "b");
  echo(two, "b");
  send_text(one_to_four, "c");
  echo(four, "c");
  EXPECT_EQ(receive(one_to_two), "a");
  EXPECT_EQ(receive(other_to_two), "b");
  EXPECT_EQ(receive(one_to_four), "c");
  EXPECT_EQ(world.flows(), 3U);
}

TEST(UdpRelayTest, DatagramsOfOtherSendersAreDropped) {
  const UniqueFd server = socket_at("127.0.0.2");
  World world(port_of(server));
  const UniqueFd client = connected("127.0.0.2", world.entrance);
  send_text(client, "hello");
  const sockaddr_storage flow = echo(server, "hello");
  EXPECT_EQ(receive(client), "hello");
  const UniqueFd stranger = socket_at("127.0.0.2");  // the same address, another port
  ::sendto(stranger.get(), "evil", 4, 0, reinterpret_cast<const sockaddr*>(&flow),
           sizeof(sockaddr_in));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(receive(client, MSG_DONTWAIT), "nothing");
}

TEST(UdpRelayTest, FlowsThatRestEndAndMayBeginAgain) {
  const UniqueFd server = socket_at("127.0.0.2");
  World world(port_of(server), "0.0.0.0", {.idle = 60ms});
  const UniqueFd client = connected("127.0.0.2", world.entrance);
  for (const char* text : {"one", "two"}) {
    send_text(client, text);
    echo(server, text);
    EXPECT_EQ(receive(client), text);
    for (int tries = 0; tries < 100 && world.flows() > 0; ++tries)
      std::this_thread::sleep_for(20ms);
    EXPECT_EQ(world.flows(), 0U);
  }
  world.finish();
  EXPECT_EQ(world.events, (std::vector{flow_to("127.0.0.2", port_of(server), 3),
                                       flow_to("127.0.0.2", port_of(server), 3)}));
}

TEST(UdpRelayTest, WhenThereAreTooManyTheOneThatRestedLongestEnds) {
  const UniqueFd server = socket_at("127.0.0.2");
  World world(port_of(server), "0.0.0.0", {.most_flows = 2});
  std::vector<UniqueFd> clients;
  for (const char* text : {"a", "bb", "ccc"}) {
    clients.push_back(connected("127.0.0.2", world.entrance));
    send_text(clients.back(), text);
    echo(server, text);
    EXPECT_EQ(receive(clients.back()), text);
  }
  EXPECT_EQ(world.flows(), 2U);
  world.finish();
  ASSERT_EQ(world.events.size(), 3U);
  EXPECT_EQ(world.events.front(), flow_to("127.0.0.2", port_of(server), 1));
}

TEST(UdpRelayTest, AServerThatIsNotThereIsToldAtTheEnd) {
  UniqueFd server = socket_at("127.0.0.2");
  const std::uint16_t port = port_of(server);
  server.reset();
  World world(port);
  const UniqueFd client = connected("127.0.0.2", world.entrance);
  send_text(client, "hello");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(world.flows(), 1U);
  world.finish();
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_EQ(world.events.front().problem, "ECONNREFUSED (Connection refused)");
  EXPECT_TRUE(world.events.front().allowed);
}

TEST(UdpRelayTest, SocketsOfIpv6ServeBothFamilies) {
  for (const std::string address : {"::1", "127.0.0.2"}) {
    const UniqueFd server = socket_at(address);
    if (!server.valid() || !socket_at("::").valid()) GTEST_SKIP() << "no IPv6 here";
    World world(port_of(server), "::");
    const UniqueFd client = connected(address, world.entrance);
    send_text(client, "hello");
    echo(server, "hello");
    EXPECT_EQ(receive(client), "hello");
    world.finish();
    EXPECT_EQ(world.events, std::vector{flow_to(address, port_of(server), 5)});
  }
}

}  // namespace
}  // namespace coop::egress
