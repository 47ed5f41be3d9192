// The DNS server of a sandbox, queried over real sockets.
#include "egress/dns/service.h"
#include "report/text.h"
#include "support/destination_rule.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

namespace coop::egress {
namespace {

using namespace std::literals;

std::string question(const std::string& name, char type = 1) {
  return "\x12\x34\x01\x00\0\x01\0\0\0\0\0\0"s + name + "\0\0"s + type + "\0\x01"s;
}

struct Bound {
  UniqueFd socket{};
  sockaddr_in address{};
};

Bound bind_on_loopback(int type) {
  Bound bound{.socket = UniqueFd(::socket(AF_INET, type | SOCK_CLOEXEC, 0))};
  bound.address.sin_family = AF_INET;
  bound.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof bound.address;
  EXPECT_EQ(::bind(bound.socket.get(), reinterpret_cast<sockaddr*>(&bound.address), size), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(::listen(bound.socket.get(), 8), 0);
  }
  ::getsockname(bound.socket.get(), reinterpret_cast<sockaddr*>(&bound.address), &size);
  return bound;
}

class Asking {
 public:
  Asking() {
    Bound udp = bind_on_loopback(SOCK_DGRAM);
    Bound tcp = bind_on_loopback(SOCK_STREAM);
    udp_ = udp.address;
    tcp_ = tcp.address;
    EXPECT_TRUE(service_.serve_udp(std::move(udp.socket)).has_value());
    EXPECT_TRUE(service_.serve_tcp(std::move(tcp.socket)).has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Asking() { finish(); }
  void finish() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
  }

  UniqueFd connect(int type) const {
    UniqueFd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    const timeval limit{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const sockaddr_in& address = type == SOCK_DGRAM ? udp_ : tcp_;
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    return socket;
  }
  std::string ask(int type, const std::string& message) const {
    const UniqueFd socket = connect(type);
    EXPECT_GT(::send(socket.get(), message.data(), message.size(), 0), 0);
    char buffer[4096];
    const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, 0);
    return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
  }

  std::vector<std::string> seen{};

 private:
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  NameTable table_{};
  policy::DestinationRules rules_{.allowed = {tests::rule("*.example.com", "--allow-net")},
                                  .denied = {tests::rule("bad.example", "--deny-net")}};
  DnsService service_{
      *loop_, table_, rules_, [this](const DnsEvent& event) {
        seen.push_back(event.name +
                       (event.allowed ? " allowed" : " denied: " + report::to_text(event.rule)) +
                       (event.grant ? "; " + report::to_text(*event.grant) : ""));
      }};
  sockaddr_in udp_{};
  sockaddr_in tcp_{};
  std::thread thread_{};
};

const std::string kAllowed = "\x01"s + "a" + "\x07" + "example" + "\x03" + "com";
const std::string kOther = "\x04"s + "evil" + "\x07" + "example";

TEST(DnsServiceTest, AllowedNamesGetAnAddressAndOthersDoNotExist) {
  Asking asking;
  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    const auto framed = [&](const std::string& message) {
      return type == SOCK_DGRAM ? message : "\0"s + static_cast<char>(message.size()) + message;
    };
    EXPECT_TRUE(asking.ask(type, framed(question(kAllowed))).ends_with("\0\x04\xc6\x12\x01\x00"s));
    EXPECT_TRUE(asking.ask(type, framed(question(kAllowed, 28))).ends_with("\xc6\x12\x01\x00"s));
    EXPECT_NE(asking.ask(type, framed(question(kOther))).find("\x12\x34\x81\x83"s),
              std::string::npos);
    EXPECT_NE(asking.ask(type, framed(question(kAllowed, 16))).find("\x12\x34\x81\x80\0\x01\0\0"s),
              std::string::npos);
    EXPECT_NE(asking
                  .ask(type, framed(question("\x03"
                                             "a b")))
                  .find("\x12\x34\x81\x85"s),
              std::string::npos);
  }
  asking.finish();
  EXPECT_EQ(asking.seen, (std::vector<std::string>{"a.example.com allowed",
                                                   "evil.example denied: no rule allows it; "
                                                   "--allow-net evil.example"}));
}

// A grant would not help against a rule that denies.
TEST(DnsServiceTest, ADeniedNameIsToldWithoutAGrant) {
  Asking asking;
  EXPECT_FALSE(asking.ask(SOCK_DGRAM, question("\x03"s + "bad" + "\x07" + "example")).empty());
  asking.finish();
  EXPECT_EQ(asking.seen, (std::vector<std::string>{"bad.example denied: --deny-net bad.example"}));
}

TEST(DnsServiceTest, IdleStreamsDoNotBlockOthers) {
  Asking asking;
  std::vector<UniqueFd> silent;
  for (int count = 0; count < 40; ++count) silent.push_back(asking.connect(SOCK_STREAM));
  EXPECT_TRUE(asking.ask(SOCK_DGRAM, question(kAllowed)).ends_with("\xc6\x12\x01\x00"s));
  silent.clear();
}

}  // namespace
}  // namespace coop::egress
