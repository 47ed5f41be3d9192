// A sandbox's egress on real sockets with servers outside; only the original destinations are
// simulated.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "egress/egress.h"
#include "origins.h"
#include "report/text.h"
#include "support/destination_rule.h"

namespace coop::egress {

struct Listener {
  UniqueFd socket{};
  std::uint16_t port = 0;
};

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline Listener listen_on_loopback() {
  Listener listener{.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.socket.get(), 4096), 0);
  ::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  listener.port = ntohs(address.sin_port);
  return listener;
}

inline void connect_to_port(const UniqueFd& socket, std::uint16_t port) {
  const sockaddr_in address = loopback(port);
  // A refusing server may reset the connection before connect() returns, which then says so.
  EXPECT_TRUE(
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == ECONNRESET);
  const timeval limit{20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

inline UniqueFd new_socket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

inline void say(const UniqueFd& socket, const std::string& text) {
  static_cast<void>(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
}

// Reads this many bytes, or fewer at EOF.
inline std::string hear(const UniqueFd& socket, std::size_t size) {
  std::string text(size, '\0');
  const ssize_t count = ::recv(socket.get(), text.data(), size, MSG_WAITALL);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

// Reads until EOF; "" when the connection is reset.
inline std::string hear_all(const UniqueFd& socket) {
  return read_all(socket.get(), "socket").value_or("");
}

inline std::string finish(const UniqueFd& socket) {
  ::shutdown(socket.get(), SHUT_WR);
  return hear_all(socket);
}

// A server outside that answers each connection with `greeting` and then with what it was sent.
class Echo {
 public:
  explicit Echo(std::string greeting = {}) : greeting_(std::move(greeting)) {
    thread_ = std::thread([this] {
      while (true) {
        UniqueFd client(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client.valid() && errno == EMFILE) {  // a test has taken all descriptors
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          continue;
        }
        if (!client.valid()) return;
        ++connections;
        static_cast<void>(write_all(client.get(), greeting_, "client"));
        const Result<std::string> said = read_all(client.get(), "client");
        if (said) bytes += said->size();
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
  std::atomic<std::size_t> bytes = 0;

 private:
  std::string greeting_;
  Listener listener_ = listen_on_loopback();
  std::thread thread_{};
};

struct WorldOptions {
  std::chrono::milliseconds head_time{15000};
  std::chrono::milliseconds refused_time{5000};
  std::chrono::milliseconds connect_time{10000};
  std::size_t most_connections = 4000;
  std::size_t most_total = 12000;
};

// A rule in this line of policy.toml.
inline DestinationRule written_in(int line, const std::string& text) {
  return {tests::destination(text), in_file("policy.toml", line)};
}

// What decided: that rule.
inline Rule decided_in(int line, std::string_view text) {
  return {in_file("policy.toml", line), tests::destination(text)};
}

class World {
 public:
  explicit World(std::uint16_t port, const WorldOptions& wanted = {}) : port_(port) {
    const std::string at = ":" + std::to_string(port);
    rules_.allowed = {written_in(3, "good.example" + at),  written_in(4, "inside.example" + at),
                      written_in(5, "both.example" + at),  written_in(6, "nowhere.example" + at),
                      written_in(7, "closed.example:1"),   written_in(8, "224.0.0.1/32"),
                      written_in(9, "silent.example" + at)};
    budget_.most_total = wanted.most_total;
    EgressOptions options;
    options.outbound.look_up = [](const std::string& name, const auto& found) {
      using Names = std::vector<std::string>;
      if (name == "good.example") return found(Names{"127.0.0.9", "127.0.0.1"});
      if (name == "closed.example") return found(Names{"127.0.0.1"});
      if (name == "inside.example") return found(Names{"10.0.0.1"});
      if (name == "both.example") return found(Names{"127.0.0.1", "10.0.0.1"});
      if (name == "silent.example") return;
      found(system_error_of(ENOENT, "look up", name));
    };
    options.outbound.guard = [](const Prefix& address) -> std::optional<policy::Forbidden> {
      if (!address.address.starts_with('\x0a')) return std::nullopt;
      return policy::forbidden(address);
    };
    options.outbound.time_of_all = wanted.connect_time;
    options.destination = [this](int) -> Result<OriginalDestination> {
      const std::lock_guard lock(wanting_);
      return OriginalDestination{wanted_, wanted_port_};
    };
    options.record = [this](const NetworkEvent& event) { events.push_back(event); };
    options.head_time = wanted.head_time;
    options.refused_time = wanted.refused_time;
    options.most_connections = wanted.most_connections;
    egress_ = std::make_unique<Egress>(*loop_, table, rules_, budget_, std::move(options));
    Listener gateway = listen_on_loopback();
    Listener proxy = listen_on_loopback();
    Listener host = listen_on_loopback();
    gateway_port = gateway.port;
    proxy_port = proxy.port;
    host_port = host.port;
    EXPECT_TRUE(egress_->serve_gateway(std::move(gateway.socket)).has_value());
    EXPECT_TRUE(egress_->serve_proxy(std::move(proxy.socket)).has_value());
    EXPECT_TRUE(egress_->serve_host_port(std::move(host.socket), port).has_value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~World() { finish(); }
  void finish() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
    egress_.reset();
  }

  // A connection whose original destination is this name.
  UniqueFd connect(const std::string& name) { return connect(name, port_); }
  UniqueFd connect(const std::string& name, std::uint16_t port) {
    return connect_to(NameTable::ipv4(*table.number_of(name)), port);
  }
  UniqueFd connect_to(const std::string& address, std::uint16_t port) {
    {
      const std::lock_guard lock(wanting_);
      wanted_ = address;
      wanted_port_ = port;
    }
    UniqueFd socket = new_socket();
    connect_to_port(socket, gateway_port);
    return socket;
  }
  // The answer to `text`; "" when the connection is reset.
  std::string say_to(const std::string& name, const std::string& text) {
    const UniqueFd socket = connect(name);
    say(socket, text);
    return egress::finish(socket);
  }
  // A connection to the proxy that has said this.
  UniqueFd ask_proxy(const std::string& text) {
    UniqueFd socket = new_socket();
    connect_to_port(socket, proxy_port);
    say(socket, text);
    return socket;
  }

  NameTable table{};
  std::uint16_t gateway_port = 0;
  std::uint16_t proxy_port = 0;
  std::uint16_t host_port = 0;
  std::vector<NetworkEvent> events{};  // to be looked at after finish()

 private:
  std::uint16_t port_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::make().value();
  policy::DestinationRules rules_{};
  Budget budget_{};
  std::mutex wanting_{};  // the loop's thread reads what the test's writes
  std::string wanted_{};
  std::uint16_t wanted_port_ = 0;
  std::unique_ptr<Egress> egress_{};
  std::thread thread_{};
};

// "HOST: why", of each event.
inline std::vector<std::string> told(const std::vector<NetworkEvent>& events) {
  std::vector<std::string> lines;
  for (const NetworkEvent& event : events)
    lines.push_back(
        event.host + ": " +
        (event.allowed ? event.problem : report::to_text(event.rule) + " " + event.problem));
  return lines;
}

inline std::string counted(std::size_t size, const std::string& content) {
  std::string length;
  for (std::size_t byte = size; byte-- > 0;)
    length += static_cast<char>(content.size() >> (8 * byte));
  return length + content;
}

inline std::string client_hello(const std::string& name) {
  using namespace std::literals;
  const std::string extension = "\0\0"s + counted(2, counted(2, "\0"s + counted(2, name)));
  const std::string body = "\x03\x03"s + std::string(32, 'r') + counted(1, "") +
                           counted(2, "\x13\x01") + counted(1, "\0"s) + counted(2, extension);
  return "\x16\x03\x01" + counted(2, "\x01" + counted(3, body));
}

}  // namespace coop::egress
