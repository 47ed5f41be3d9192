// DNS of an open network: queries are forwarded, and always answered.
#include "egress/dns/forwarder.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <stop_token>
#include <thread>
#include <utility>

#include "egress/dns/message.h"

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

std::string message_of(const std::string& flags, const std::string& counts,
                       const std::string& rest) {
  return "\x12\x34"s + flags + counts + rest;
}

const std::string kName = "\x04_tcp\x01"s + "a\0"s;
const std::string kOne = "\0\x01\0\0\0\0\0\0"s;
const std::string kOptRecord = "\0\0\x29\x10\0\0\0\0\0\0\x04\0\x0a\0\0"s;
const std::string kWithOpt =
    message_of("\x01\x20"s, "\0\x01\0\0\0\0\0\x01"s, kName + "\0\x21\0\x01"s + kOptRecord);

std::vector<std::string> not_plain() {
  const auto of_type = [](char type) {
    return message_of("\0\0"s, kOne, kName + "\0"s + type + "\0\x01"s);
  };
  return {message_of("\x28\0"s, kOne, kName + "\0\x06\0\x01"s),  // UPDATE
          message_of("\x28\0"s, "\0\x01\0\0\0\x01\0\0"s,
                     kName + "\0\x06\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04\x01\x02\x03\x04"s),
          message_of("\x20\0"s, kOne, kName + "\0\x06\0\x01"s),  // NOTIFY
          of_type('\xfc'),                                       // AXFR
          of_type('\xfb'),                                       // IXFR
          of_type('\xfd'),
          of_type('\xfe'),
          message_of("\x81\x80"s, kOne, kName + "\0\x01\0\x01"s),  // an answer
          message_of("\x01\0"s, "\0\x02\0\0\0\0\0\0"s,
                     kName + "\0\x01\0\x01"s + kName + "\0\x01\0\x01"s),
          kQuestion + "x",
          kWithOpt + "x",
          message_of("\x01\0"s, kOne, kName + "\0\x01\0\x01"s + kOptRecord),  // one not counted
          "",
          "x",
          std::string(40, '\xff'),
          std::string(4000, '\0'),
          "GET / HTTP/1.1\r\nHost: a\r\n\r\n"};
}

std::string answer_to(const std::string& message, std::size_t size = 100) {
  std::string answer = message;
  answer[2] = static_cast<char>(answer[2] | '\x80');
  answer.resize(size, 'a');
  return answer;
}

// One port by UDP and TCP. Remembers each datagram, and of each connection what came by it.
class Server {
 public:
  explicit Server(std::size_t size = 100) : size_(size) {
    const auto bound = [this] {
      return ::bind(streams_.get(), reinterpret_cast<const sockaddr*>(&datagrams_.address),
                    sizeof datagrams_.address) == 0;
    };
    // A port that is free for datagrams may have connections.
    while (!bound()) datagrams_ = bind_datagrams("127.0.0.1");
    EXPECT_EQ(::listen(streams_.get(), 20), 0);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  std::uint16_t port() const { return ntohs(datagrams_.address.sin_port); }
  std::vector<std::string> end() {
    thread_.request_stop();
    thread_.join();
    return got_;
  }

 private:
  void serve(const std::stop_token& stop) {
    pollfd both[2]{{datagrams_.socket.get(), POLLIN, 0}, {streams_.get(), POLLIN, 0}};
    // What has arrived before the end is served, too.
    while (::poll(both, 2, 100) > 0 || !stop.stop_requested()) {
      if (both[0].revents != 0) datagram();
      if (both[1].revents != 0) stream();
    }
  }
  void datagram() {
    char buffer[8192];
    sockaddr_in asker{};
    socklen_t length = sizeof asker;
    const ssize_t count = ::recvfrom(datagrams_.socket.get(), buffer, sizeof buffer, 0,
                                     reinterpret_cast<sockaddr*>(&asker), &length);
    got_.emplace_back(buffer, static_cast<std::size_t>(std::max(count, ssize_t{0})));
    const std::string answer = answer_to(got_.back(), size_);
    ::sendto(datagrams_.socket.get(), answer.data(), answer.size(), 0,
             reinterpret_cast<sockaddr*>(&asker), length);
  }
  void stream() {
    const UniqueFd client(::accept4(streams_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string& got = got_.emplace_back();
    bool answered = false;
    char buffer[8192];
    for (ssize_t count = 0; (count = ::recv(client.get(), buffer, sizeof buffer, 0)) > 0;) {
      got.append(buffer, static_cast<std::size_t>(count));
      const auto message = first_dns_frame(got);
      if (!message || std::exchange(answered, true)) continue;
      // What follows an answer belongs to no question.
      const std::string answer = dns_frame(answer_to(std::string(*message), size_)) + "more";
      ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  std::size_t size_;
  Bound datagrams_ = bind_datagrams("127.0.0.1");
  UniqueFd streams_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<std::string> got_{};
  std::jthread thread_{};
};

// A forwarder in a loop of its own, on sockets of both kinds.
class Forwarding {
 public:
  explicit Forwarding(std::uint16_t port)
      : forwarder_(*loop_, [] { return std::vector{"127.0.0.2"s, "127.0.0.1"s}; }, port) {
    Bound inside = bind_datagrams("127.0.0.1");
    datagrams_ = inside.address;
    EXPECT_TRUE(forwarder_.serve_udp(std::move(inside.socket)).has_value());
    UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    streams_.sin_family = AF_INET;
    streams_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof streams_;
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&streams_), size), 0);
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&streams_), &size);
    EXPECT_EQ(::listen(listener.get(), 20), 0);
    EXPECT_TRUE(forwarder_.serve_tcp(std::move(listener)).has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Forwarding() {
    loop_->stop();
    thread_.join();
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void send(const Bound& client, const std::string& message) const {
    ::sendto(client.socket.get(), message.data(), message.size(), 0,
             reinterpret_cast<const sockaddr*>(&datagrams_), sizeof datagrams_);
  }
  UniqueFd connect(int receive_buffer = 0) const {
    UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{9, 0};  // less than the forwarder's patience
    ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (receive_buffer > 0)
      ::setsockopt(client.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    EXPECT_EQ(
        ::connect(client.get(), reinterpret_cast<const sockaddr*>(&streams_), sizeof streams_), 0);
    return client;
  }
  // All that comes back by one connection for these bytes.
  std::string by_tcp(const std::string& bytes) const {
    const UniqueFd client = connect();
    ::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(client.get(), SHUT_WR);
    return rest_of(client);
  }
  static std::string rest_of(const UniqueFd& client) {
    std::string all;
    char buffer[8192];
    ssize_t count = 0;
    while ((count = ::recv(client.get(), buffer, sizeof buffer, 0)) > 0)
      all.append(buffer, static_cast<std::size_t>(count));
    EXPECT_TRUE(count == 0 || errno == ECONNRESET) << "not closed";
    return all;
  }

 private:
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  DnsForwarder forwarder_;
  sockaddr_in datagrams_{};
  sockaddr_in streams_{};
  std::thread thread_{};
};

std::string received(const Bound& client) {
  char buffer[8192];
  const ssize_t size = ::recv(client.socket.get(), buffer, sizeof buffer, 0);
  return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
}

TEST(DnsForwarderTest, OnlyPlainQueriesReachAServerByUdp) {
  Server server;
  const Forwarding forwarding(server.port());
  const Bound client = bind_datagrams("127.0.0.1");
  for (const std::string& message : not_plain()) {
    forwarding.send(client, message);
    const std::string refusal = dns_failure(message, DnsCode::refused);
    if (!refusal.empty()) {
      EXPECT_EQ(received(client), refusal);
    }
  }
  for (const std::string& message : {kQuestion, kWithOpt}) {
    forwarding.send(client, message);
    EXPECT_EQ(received(client), answer_to(message));
  }
  EXPECT_EQ(server.end(), (std::vector{kQuestion, kWithOpt}));
}

TEST(DnsForwarderTest, OnlyPlainQueriesReachAServerByTcp) {
  Server server;
  const Forwarding forwarding(server.port());
  for (const std::string& message : not_plain())
    EXPECT_EQ(forwarding.by_tcp(dns_frame(message) + dns_frame(kQuestion)), "");
  EXPECT_EQ(forwarding.by_tcp("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + std::string(30000, 'x')), "");
  EXPECT_EQ(forwarding.by_tcp(dns_frame(kQuestion).substr(0, 10)), "");
  EXPECT_EQ(forwarding.by_tcp(dns_frame(kQuestion)), dns_frame(answer_to(kQuestion)));
  EXPECT_EQ(forwarding.by_tcp(dns_frame(kWithOpt) + dns_frame(not_plain()[0])),
            dns_frame(answer_to(kWithOpt)));
  EXPECT_EQ(server.end(), (std::vector{dns_frame(kQuestion), dns_frame(kWithOpt)}));
}

TEST(DnsForwarderTest, AnswersOneQuestionAfterAnotherOnAConnection) {
  Server server;
  const Forwarding forwarding(server.port());
  const std::string answers = dns_frame(answer_to(kQuestion)) + dns_frame(answer_to(kWithOpt));
  EXPECT_EQ(forwarding.by_tcp(dns_frame(kQuestion) + dns_frame(kWithOpt)), answers);
  // In pieces, and the second question after the first answer.
  const UniqueFd client = forwarding.connect();
  std::string got;
  for (const std::string& message : {kQuestion, kWithOpt}) {
    const std::string framed = dns_frame(message);
    for (const std::string& piece : {framed.substr(0, 1), framed.substr(1, 9), framed.substr(10)}) {
      ::send(client.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(10ms);
    }
    char buffer[102];
    const ssize_t count = ::recv(client.get(), buffer, sizeof buffer, MSG_WAITALL);
    got.append(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  EXPECT_EQ(got, answers);
  const std::string one = dns_frame(kQuestion);
  const std::string two = dns_frame(kWithOpt);
  EXPECT_EQ(server.end(), (std::vector{one, two, one, two}));
}

TEST(DnsForwarderTest, ALargeAnswerReachesASlowClientWhole) {
  Server server(65535);
  const Forwarding forwarding(server.port());
  const UniqueFd client = forwarding.connect(4096);
  const std::string framed = dns_frame(kQuestion);
  ::send(client.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
  ::shutdown(client.get(), SHUT_WR);
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(Forwarding::rest_of(client) == dns_frame(answer_to(kQuestion, 65535)));
}

TEST(DnsForwarderTest, WithoutAServerAConnectionIsClosed) {
  const Forwarding forwarding(ntohs(bind_datagrams("127.0.0.1").address.sin_port));
  EXPECT_EQ(forwarding.by_tcp(dns_frame(kQuestion)), "");
}

}  // namespace
}  // namespace coop::egress
