// The event loop, and bytes between two connections, on real sockets.
#include "egress/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace coop::egress {
namespace {

// Both ends of a TCP connection on loopback.
std::pair<UniqueFd, UniqueFd> tcp_pair() {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  UniqueFd one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(one.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  UniqueFd two(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::move(one), std::move(two)};
}

void do_not_block(const UniqueFd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

// A client and a server with a relay between them, in a loop of its own.
class Between {
 public:
  explicit Between(std::string first = {}, PipePool pipes = {}) : pipes_(std::move(pipes)) {
    auto [outer_client, inner_client] = tcp_pair();
    auto [outer_server, inner_server] = tcp_pair();
    client = std::move(outer_client);
    server = std::move(outer_server);
    do_not_block(inner_client);
    do_not_block(inner_server);
    relay_ = std::make_unique<Relay>(
        *loop_, pipes_, Relay::Sockets{std::move(inner_client), std::move(inner_server)},
        std::move(first), [this](const Relayed& done) {
          result = done;
          relay_.reset();
          loop_->stop();
        });
    EXPECT_TRUE(relay_->start().has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Between() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
  }
  void wait() { thread_.join(); }

  UniqueFd client{};
  UniqueFd server{};
  Relayed result{};

 private:
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  PipePool pipes_;
  std::unique_ptr<Relay> relay_{};
  std::thread thread_{};
};

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t index = 0; index < size; ++index)
    bytes[index] = static_cast<char>(index * 7 + index / 255);
  return bytes;
}

void send_all(const UniqueFd& fd, const std::string& bytes) {
  EXPECT_TRUE(write_all(fd.get(), bytes, "socket").has_value());
}

TEST(RelayTest, CarriesMuchInBothDirectionsAtOnce) {
  Between between;
  const std::string bytes = pattern(std::size_t{32} << 20U);
  std::string at_server;
  std::string at_client;
  {
    const std::jthread one([&] {
      send_all(between.client, bytes);
      ::shutdown(between.client.get(), SHUT_WR);
    });
    const std::jthread two([&] {
      send_all(between.server, bytes);
      ::shutdown(between.server.get(), SHUT_WR);
    });
    const std::jthread three([&] { at_server = read_all(between.server.get(), "server").value(); });
    at_client = read_all(between.client.get(), "client").value();
  }
  EXPECT_TRUE(at_server == bytes);
  EXPECT_TRUE(at_client == bytes);
  between.wait();
  EXPECT_EQ(between.result.to_server, bytes.size());
  EXPECT_EQ(between.result.to_client, bytes.size());
  EXPECT_FALSE(between.result.broken);
}

TEST(RelayTest, CarriesMuchWithoutPipes) {
  PipePool none;
  while (none.take()) {
  }
  Between between("", std::move(none));
  const std::string bytes = pattern(std::size_t{8} << 20U);
  const std::jthread sending([&] {
    send_all(between.client, bytes);
    ::shutdown(between.client.get(), SHUT_WR);
  });
  EXPECT_TRUE(read_all(between.server.get(), "server").value() == bytes);
}

TEST(RelayTest, WhatHadArrivedBeforeItBrokeIsPassedOn) {
  Between between;
  send_all(between.client, "unread");
  send_all(between.server, "answer");
  // Closed with bytes unread: a reset follows the answer.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  between.server.reset();
  char bytes[6];
  EXPECT_EQ(::recv(between.client.get(), bytes, sizeof bytes, MSG_WAITALL), 6);
  between.wait();
  EXPECT_EQ(between.result.to_client, 6U);
}

TEST(RelayTest, WhatWasReadBeforeComesFirst) {
  Between between("hello ");
  send_all(between.client, "world");
  ::shutdown(between.client.get(), SHUT_WR);
  EXPECT_EQ(read_all(between.server.get(), "server").value(), "hello world");
}

TEST(RelayTest, WhoHasSaidEverythingMayStillListen) {
  Between between;
  send_all(between.client, "request");
  ::shutdown(between.client.get(), SHUT_WR);
  EXPECT_EQ(read_all(between.server.get(), "server").value(), "request");
  const std::string answer = pattern(std::size_t{1} << 20U);
  std::jthread sending([&] {
    send_all(between.server, answer);
    between.server.reset();
  });
  EXPECT_TRUE(read_all(between.client.get(), "client").value() == answer);
  between.wait();
  EXPECT_FALSE(between.result.broken);
}

TEST(RelayTest, AConnectionThatBreaksEndsTheOther) {
  Between between;
  send_all(between.client, "x");
  char byte = 0;
  EXPECT_EQ(::read(between.server.get(), &byte, 1), 1);
  const linger reset{1, 0};
  ::setsockopt(between.server.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  between.server.reset();
  between.wait();
  EXPECT_TRUE(between.result.broken);
  EXPECT_LE(::read(between.client.get(), &byte, 1), 0);
}

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// After shutdown() in both directions epoll keeps reporting EPOLLHUP. The rest of the answer waits
// for a slow client.
TEST(RelayTest, ASlowReaderAtTheEndCausesNoBusyLoop) {
  using namespace std::literals;
  Between between;
  const int narrow = 32 << 10;
  ::setsockopt(between.client.get(), SOL_SOCKET, SO_RCVBUF, &narrow, sizeof narrow);
  ::shutdown(between.client.get(), SHUT_WR);
  EXPECT_EQ(read_all(between.server.get(), "server").value(), "");
  const std::string answer = pattern(std::size_t{6} << 20U);
  std::jthread sending([&] {
    send_all(between.server, answer);
    between.server.reset();
  });
  std::string read;
  std::string piece(std::size_t{64} << 10U, '\0');
  const auto before = processor_time();
  while (read.size() < answer.size()) {
    std::this_thread::sleep_for(20ms);
    const ssize_t size = ::recv(between.client.get(), piece.data(), piece.size(), MSG_WAITALL);
    ASSERT_GT(size, 0);
    read.append(piece, 0, static_cast<std::size_t>(size));
  }
  // Two seconds of waiting; the actual work takes a few milliseconds.
  EXPECT_LT(processor_time() - before, 250ms);
  EXPECT_TRUE(read == answer);
}

TEST(RelayTest, ConnectionsThatRestHoldNoPipes) {
  const std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  PipePool pipes;
  std::vector<std::unique_ptr<Relay>> relays;
  std::vector<UniqueFd> outer;
  for (int count = 0; count < 50; ++count) {
    auto [client, inner_client] = tcp_pair();
    auto [server, inner_server] = tcp_pair();
    do_not_block(inner_client);
    do_not_block(inner_server);
    relays.push_back(std::make_unique<Relay>(
        *loop, pipes, Relay::Sockets{std::move(inner_client), std::move(inner_server)}, "",
        [](const Relayed&) {}));
    ASSERT_TRUE(relays.back()->start().has_value());
    send_all(client, "some");
    outer.push_back(std::move(client));
    outer.push_back(std::move(server));
  }
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  loop->after(std::chrono::milliseconds(200), [&] { loop->stop(); });
  loop->run();
  EXPECT_LE(descriptors() - before, 10);  // one pipe serves them all
}

}  // namespace
}  // namespace coop::egress
