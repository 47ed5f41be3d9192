// Lookups at simulated name servers on loopback, over real sockets.
#include "egress/dns/resolver.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <fstream>
#include <future>
#include <thread>

#include "base/address.h"
#include "egress/dns/message.h"
#include "temp_tree.h"

namespace coop::egress {
namespace {

using namespace std::literals;
using Texts = std::vector<std::string>;

enum class Way : std::uint8_t { datagram, stream };

UniqueFd bound(int type, const std::string& address, std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_storage storage{};
  const socklen_t size = fill_socket_address(storage, *address_bytes(address), port);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), size) < 0) return UniqueFd();
  return socket;
}

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// One name server; its script says which messages come back for a question.
class Server {
 public:
  using Script = std::function<Texts(const DnsQuestion&, Way)>;

  Server(EventLoop& loop, const std::string& address, std::uint16_t port, Script script)
      : loop_(loop), script_(std::move(script)) {
    // A port that is free for both; that of another test may still be taken for one.
    for (int tries = 0; tries < 100 && !udp_.valid(); ++tries) {
      tcp_ = bound(SOCK_STREAM, address, port);
      if (tcp_.valid()) udp_ = bound(SOCK_DGRAM, address, port_of(tcp_));
    }
    EXPECT_EQ(::listen(tcp_.get(), 8), 0);
    EXPECT_TRUE(loop_.watch(udp_.get(), EPOLLIN, [this](std::uint32_t) { datagram(); }));
    EXPECT_TRUE(loop_.watch(tcp_.get(), EPOLLIN, [this](std::uint32_t) { stream(); }));
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    loop_.forget(udp_.get());
    loop_.forget(tcp_.get());
  }
  std::uint16_t port() const { return port_of(udp_); }
  int questions = 0;  // to be looked at when the loop rests

 private:
  Texts answers(std::string_view message, Way way) {
    ++questions;
    const Result<DnsQuestion> question = parse_question(message);
    EXPECT_TRUE(question.has_value());
    return question ? script_(*question, way) : Texts{};
  }
  void datagram() {
    char buffer[1024];
    sockaddr_storage sender{};
    socklen_t length = sizeof sender;
    const ssize_t size = ::recvfrom(udp_.get(), buffer, sizeof buffer, 0,
                                    reinterpret_cast<sockaddr*>(&sender), &length);
    for (const std::string& reply :
         answers({buffer, static_cast<std::size_t>(size)}, Way::datagram))
      ::sendto(udp_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&sender),
               length);
  }
  // The client uses the same loop: its query is sent only after we return.
  void stream() {
    const int fd = ::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    const auto client = std::make_shared<UniqueFd>(fd);
    EXPECT_TRUE(loop_.watch(fd, EPOLLIN, [this, client](std::uint32_t) {
      char buffer[1024];
      const ssize_t size = ::recv(client->get(), buffer, sizeof buffer, 0);
      if (size > 2)
        for (const std::string& reply :
             answers({buffer + 2, static_cast<std::size_t>(size) - 2}, Way::stream)) {
          std::string framed{static_cast<char>(reply.size() >> 8U),
                             static_cast<char>(reply.size() & 0xffU)};
          framed += reply;
          // In two pieces, as a network may deliver it.
          ::send(client->get(), framed.data(), 3, MSG_NOSIGNAL);
          ::send(client->get(), framed.data() + 3, framed.size() - 3, MSG_NOSIGNAL);
        }
      loop_.forget(client->get());
    }));
  }

  EventLoop& loop_;
  Script script_;
  UniqueFd udp_{};
  UniqueFd tcp_{};
};

// 192.0.2.1 and 2001:db8::1, as bytes.
const std::string kFour = "\xc0\x00\x02\x01"s;
const std::string kSix = *address_bytes("2001:db8::1");
const Texts kBoth{"192.0.2.1", "2001:db8::1"};

Texts usual(const DnsQuestion& question, Way) {
  const Texts addresses{question.type == kDnsA ? kFour : kSix};
  return {dns_answer(question, DnsCode::no_error, addresses, 30)};
}

Texts says(const DnsQuestion& question, DnsCode code) { return {dns_answer(question, code)}; }

class Asking {
 public:
  explicit Asking(Server::Script script) { add("127.0.53.1", std::move(script)); }
  ~Asking() { finish(); }

  Server& add(const std::string& address, Server::Script script) {
    const std::uint16_t port = servers.empty() ? std::uint16_t{0} : config.port;
    servers.push_back(std::make_unique<Server>(*loop, address, port, std::move(script)));
    config.port = servers.front()->port();
    if (servers.size() == 1) config.servers.clear();
    config.servers.push_back(address);
    return *servers.back();
  }
  void finish() {
    loop->stop();
    if (thread.joinable()) thread.join();
  }
  std::future<Resolver::Addresses> start(const std::string& name) {
    if (!resolver) {
      resolver = std::make_unique<Resolver>(*loop, config);
      thread = std::thread([this] { loop->run(); });
    }
    const auto promise = std::make_shared<std::promise<Resolver::Addresses>>();
    loop->post([this, name, promise] {
      resolver->look_up(name, [promise](Resolver::Addresses found) { promise->set_value(found); });
    });
    return promise->get_future();
  }
  // The addresses, or one text that says what is wrong.
  Texts look_up(const std::string& name) {
    std::future<Resolver::Addresses> future = start(name);
    if (future.wait_for(15s) != std::future_status::ready) return {"nothing happens"};
    const Resolver::Addresses found = future.get();
    return found ? *found : Texts{to_text(found.error())};
  }
  int questions(std::size_t server = 0) const { return servers[server]->questions; }

  std::unique_ptr<EventLoop> loop = EventLoop::make().value();
  ResolverConfig config{};
  std::vector<std::unique_ptr<Server>> servers{};
  std::unique_ptr<Resolver> resolver{};
  std::thread thread{};
};

TEST(ResolverTest, BothFamiliesAreAskedOnceAndRemembered) {
  Asking asking(usual);
  EXPECT_EQ(asking.look_up("Box.Example."), kBoth);
  EXPECT_EQ(asking.look_up("box.example"), kBoth);
  asking.finish();
  EXPECT_EQ(asking.questions(), 2);
}

TEST(ResolverTest, WhoAsksForTheSameNameSharesTheQuestion) {
  Asking asking(usual);
  std::vector<std::future<Resolver::Addresses>> all;
  for (int count = 0; count < 20; ++count) all.push_back(asking.start("box.example"));
  for (auto& one : all) EXPECT_EQ(one.get().value(), kBoth);
  asking.finish();
  EXPECT_EQ(asking.questions(), 2);
}

TEST(ResolverTest, AddressesComeInTurnsAndNotTooMany) {
  Asking asking([](const DnsQuestion& question, Way) {
    const Texts addresses(14, question.type == kDnsA ? kFour : kSix);
    return Texts{dns_answer(question, DnsCode::no_error, addresses, 0)};
  });
  Texts expected;
  for (int count = 0; count < 8; ++count)
    expected.insert(expected.end(), kBoth.begin(), kBoth.end());
  EXPECT_EQ(asking.look_up("box.example"), expected);
  EXPECT_EQ(asking.look_up("box.example"), expected);
  asking.finish();
  EXPECT_EQ(asking.questions(), 4);  // for no time at all: nothing is remembered
}

TEST(ResolverTest, NamesThatDoNotExistEndAtOnceAndAreRemembered) {
  Asking asking([](const DnsQuestion& question, Way) {
    return question.type == kDnsA ? says(question, DnsCode::no_such_name) : Texts{};
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(asking.look_up("none.example"), Texts{"resolve none.example: no such name"});
  EXPECT_EQ(asking.look_up("none.example"), Texts{"resolve none.example: no such name"});
  EXPECT_LT(std::chrono::steady_clock::now() - before, 900ms);
  asking.finish();
  EXPECT_EQ(asking.questions(), 2);
}

TEST(ResolverTest, TheSecondFamilyIsNotWaitedForLong) {
  Asking asking([](const DnsQuestion& question, Way way) {
    return question.type == kDnsAaaa ? usual(question, way) : Texts{};
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(asking.look_up("box.example"), Texts{"2001:db8::1"});
  EXPECT_LT(std::chrono::steady_clock::now() - before, 900ms);
}

TEST(ResolverTest, OneFamilyIsEnough) {
  Asking asking([](const DnsQuestion& question, Way way) {
    if (question.name == "plain.example" && question.type == kDnsAaaa)
      return says(question, DnsCode::no_error);
    if (question.type == kDnsAaaa) return says(question, DnsCode::refused);
    return question.name == "empty.example" ? says(question, DnsCode::no_error)
                                            : usual(question, way);
  });
  EXPECT_EQ(asking.look_up("plain.example"), Texts{"192.0.2.1"});
  EXPECT_EQ(asking.look_up("box.example"), Texts{"192.0.2.1"});
  EXPECT_EQ(asking.look_up("empty.example"),
            Texts{"resolve empty.example: name server 127.0.53.1: it answered with an error"});
}

TEST(ResolverTest, ForgedAnswersAreNotHeard) {
  Asking asking([](const DnsQuestion& question, Way way) {
    const Texts evil{std::string(question.type == kDnsA ? 4 : 16, '\x0a')};
    DnsQuestion other_id = question;
    other_id.id ^= 1U;
    DnsQuestion other_name = question;
    other_name.asked[1] = 'x';
    DnsQuestion other_type = question;
    other_type.asked[other_type.asked.size() - 3] ^= '\x1d';
    Texts replies;
    for (const DnsQuestion& forged : {other_id, other_name, other_type})
      replies.push_back(dns_answer(forged, DnsCode::no_error, evil, 30));
    replies.push_back("short");
    replies.push_back(usual(question, way).front());
    return replies;
  });
  EXPECT_EQ(asking.look_up("box.example"), kBoth);
}

TEST(ResolverTest, WhatIsCutOffIsAskedByTcp) {
  Asking asking([](const DnsQuestion& question, Way way) {
    std::string reply = usual(question, way).front();
    if (way == Way::datagram) reply[2] = static_cast<char>(reply[2] | 0x02);
    return Texts{reply};
  });
  EXPECT_EQ(asking.look_up("box.example"), kBoth);
  asking.finish();
  EXPECT_EQ(asking.questions(), 4);
}

TEST(ResolverTest, ServersThatAreSilentOrFailAreFollowedByTheNext) {
  Asking silent([](const DnsQuestion&, Way) { return Texts{}; });
  silent.add("127.0.53.2", usual);
  EXPECT_EQ(silent.look_up("box.example"), kBoth);

  constexpr auto kServerFailure = static_cast<DnsCode>(2);
  Asking failing([](const DnsQuestion& question, Way) { return says(question, kServerFailure); });
  failing.add("127.0.53.2", usual);
  failing.config.servers.insert(failing.config.servers.begin(), "127.0.53.3");  // no server there
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(failing.look_up("box.example"), kBoth);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 900ms);
}

TEST(ResolverTest, ServersThatAllFailEndTheQuestionAndAreAskedAgainLater) {
  Asking asking([](const DnsQuestion& question, Way) { return says(question, DnsCode::refused); });
  const Texts problem{"resolve box.example: name server 127.0.53.1: it answered with an error"};
  EXPECT_EQ(asking.look_up("box.example"), problem);
  EXPECT_EQ(asking.look_up("box.example"), problem);
  asking.finish();
  EXPECT_EQ(asking.questions(), 4);
}

// "box.example CNAME real.example", and an address of `owner`.
std::string alias(const DnsQuestion& question, const std::string& owner) {
  const std::string type = "\0"s + static_cast<char>(question.type) + "\0\x01\0\0\0\x1e\0"s;
  const std::string& address = question.type == kDnsA ? kFour : kSix;
  std::string reply = dns_answer(question, DnsCode::no_error);
  reply[7] = 2;
  reply += "\xc0\x0c\0\x05\0\x01\0\0\0\x1e\0\x07\x04real\xc0\x10"s;
  return reply + owner + type + static_cast<char>(address.size()) + address;
}

TEST(ResolverTest, AliasesAreFollowedAndOtherOwnersAreNot) {
  Asking asking([](const DnsQuestion& question, Way) {
    return Texts{alias(question,
                       question.name == "box.example" ? "\x04real\xc0\x10"s : "\x04othr\xc0\x10"s)};
  });
  EXPECT_EQ(asking.look_up("box.example"), kBoth);
  EXPECT_EQ(asking.look_up("bad.example"), Texts{"resolve bad.example: the name has no address"});
}

TEST(ResolverTest, LocalNamesNeedNoQuery) {
  Asking asking(usual);
  asking.config.hosts = parse_hosts("2001:db8::9 near\n192.0.2.9 near Near.Example\n");
  EXPECT_EQ(asking.look_up("NEAR"), (Texts{"192.0.2.9", "2001:db8::9"}));
  EXPECT_EQ(asking.look_up("near.example"), Texts{"192.0.2.9"});
  EXPECT_EQ(asking.look_up("localhost"), (Texts{"127.0.0.1", "::1"}));
  EXPECT_EQ(asking.look_up("a.LOCALHOST."), (Texts{"127.0.0.1", "::1"}));
  EXPECT_EQ(asking.look_up("2001:DB8::0:5"), Texts{"2001:db8::5"});
  EXPECT_EQ(asking.look_up("127.1"), Texts{"resolve 127.1: not the name of a host"});
  EXPECT_EQ(asking.look_up("a b"), Texts{"resolve a b: not the name of a host"});
  asking.finish();
  EXPECT_EQ(asking.questions(), 0);
}

TEST(ResolverTest, FilesThatChangeAreReadAgain) {
  const test::TempTree tree;
  const ResolverFiles files{.name_servers = tree / "resolv.conf", .hosts = tree / "hosts"};
  std::ofstream(files.name_servers) << "nameserver 127.0.53.1\n";
  std::ofstream(files.hosts) << "192.0.2.7 near\n";
  Asking asking(usual);
  const std::uint16_t port = asking.config.port;
  asking.config = read_resolver_config(files).value();
  asking.config.port = port;
  EXPECT_EQ(asking.look_up("near"), Texts{"192.0.2.7"});
  std::ofstream(files.hosts) << "192.0.2.18 near\n";
  EXPECT_EQ(asking.look_up("near"), Texts{"192.0.2.7"});  // not checked again so soon
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(asking.look_up("near"), Texts{"192.0.2.18"});
  EXPECT_EQ(asking.look_up("box.example"), kBoth);  // and the port stays what it was
}

}  // namespace
}  // namespace coop::egress
