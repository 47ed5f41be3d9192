// DNS of an open network: queries are forwarded, and always answered.
#include "egress/dns/forwarder.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

namespace coop::egress {
namespace {

using namespace std::literals;

struct Bound {
  UniqueFd socket{};
  sockaddr_in address{};
};

Bound bind_datagrams(const char* address, std::uint16_t port = 0) {
  Bound bound{.socket = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
  bound.address.sin_family = AF_INET;
  bound.address.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, address, &bound.address.sin_addr), 1);
  socklen_t size = sizeof bound.address;
  EXPECT_EQ(::bind(bound.socket.get(), reinterpret_cast<sockaddr*>(&bound.address), size), 0);
  ::getsockname(bound.socket.get(), reinterpret_cast<sockaddr*>(&bound.address), &size);
  const timeval limit{10, 0};
  ::setsockopt(bound.socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return bound;
}

const std::string kQuestion = "\x12\x34\x01\x00\0\x01\0\0\0\0\0\0\x01"s + "a\0\0\x01\0\x01"s;

// The answer that a client of a forwarder to these servers gets; they listen on `port`.
std::string answer_of(const std::vector<std::string>& servers, std::uint16_t port) {
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  DnsForwarder forwarder(*loop, [&] { return servers; }, port);
  Bound inside = bind_datagrams("127.0.0.1");
  const sockaddr_in place = inside.address;
  EXPECT_TRUE(forwarder.serve_udp(std::move(inside.socket)).has_value());
  std::thread thread([&] { loop->run(); });
  const Bound client = bind_datagrams("127.0.0.1");
  ::sendto(client.socket.get(), kQuestion.data(), kQuestion.size(), 0,
           reinterpret_cast<const sockaddr*>(&place), sizeof place);
  char buffer[512];
  const ssize_t size = ::recv(client.socket.get(), buffer, sizeof buffer, 0);
  loop->stop();
  thread.join();
  return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
}

TEST(DnsForwarderTest, PassesOnWhatTheFirstServerThatIsThereSays) {
  const Bound server = bind_datagrams("127.0.0.1");
  std::thread serving([&] {
    char buffer[512];
    sockaddr_in asker{};
    socklen_t size = sizeof asker;
    const ssize_t count = ::recvfrom(server.socket.get(), buffer, sizeof buffer, 0,
                                     reinterpret_cast<sockaddr*>(&asker), &size);
    EXPECT_EQ(std::string(buffer, count > 0 ? static_cast<std::size_t>(count) : 0), kQuestion);
    ::sendto(server.socket.get(), "the answer", 10, 0, reinterpret_cast<sockaddr*>(&asker), size);
  });
  // There is no server at the first two; what is no address is skipped.
  EXPECT_EQ(answer_of({"127.0.0.2", "nonsense", "127.0.0.1"}, ntohs(server.address.sin_port)),
            "the answer");
  serving.join();
}

TEST(DnsForwarderTest, AnswersServfailWithoutAServer) {
  const std::uint16_t unused = ntohs(bind_datagrams("127.0.0.1").address.sin_port);
  for (const std::vector<std::string>& servers :
       {std::vector<std::string>{}, {"127.0.0.1", "127.0.0.2"}})
    EXPECT_EQ(answer_of(servers, unused), "\x12\x34\x81\x82"s + kQuestion.substr(4));
}

}  // namespace
}  // namespace coop::egress
