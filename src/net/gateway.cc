#include "net/gateway.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "net/client_hello.h"

namespace coop::net {

namespace {

constexpr std::size_t kMostConnections = 12000;
constexpr int kMostAccepted = 64;
constexpr std::chrono::seconds kConnectTime{15};
constexpr std::chrono::seconds kHelloTime{30};
constexpr int kIpv6OriginalDestination =
    80;  // IP6T_SO_ORIGINAL_DST, linux/netfilter_ipv6/ip6_tables.h

std::string address_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

// A socket address for an address in text; its length, or 0 when it is none.
socklen_t fill(sockaddr_storage& storage, const std::string& address, std::uint16_t port) {
  auto& four = reinterpret_cast<sockaddr_in&>(storage);
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return sizeof four;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(storage);
  if (::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) != 1) return 0;
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  return sizeof six;
}

// Closing it then tells the client at once, instead of letting it wait.
void reset_on_close(const UniqueFd& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

Result<Destination> original_destination(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockopt(socket, SOL_IP, SO_ORIGINAL_DST, &storage, &size) == 0 &&
      storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(storage);
    return Destination{std::string(reinterpret_cast<const char*>(&four.sin_addr), 4),
                       ntohs(four.sin_port)};
  }
  size = sizeof storage;
  if (::getsockopt(socket, SOL_IPV6, kIpv6OriginalDestination, &storage, &size) < 0)
    return system_error("getsockopt", "SO_ORIGINAL_DST");
  const auto& six = reinterpret_cast<const sockaddr_in6&>(storage);
  return Destination{std::string(reinterpret_cast<const char*>(&six.sin6_addr), 16),
                     ntohs(six.sin6_port)};
}

// One connection, from accept() to its end. Kept by the gateway; callbacks hold it weakly.
class Gateway::Connection : public std::enable_shared_from_this<Gateway::Connection> {
 public:
  Connection(Gateway& gateway, UniqueFd client) : gateway_(gateway), client_(std::move(client)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { forget(); }

  void start() {
    const Result<Destination> destination = gateway_.options_.destination(client_.get());
    if (!destination) return fail(to_text(destination.error()));
    const std::optional<std::string> name = gateway_.table_.name_of(destination->address);
    named_ = name.has_value();
    event_.host = name ? *name : address_text(destination->address);
    event_.port = destination->port;
    const HostVerdict verdict = judge(gateway_.rules_, event_.host, event_.port);
    event_.allowed = verdict.allowed;
    event_.rule = verdict.rule;
    if (!verdict.allowed) return end();
    if (!named_) return connect_to({event_.host});
    gateway_.options_.look_up(event_.host,
                              [self = weak_from_this()](GatewayOptions::Addresses found) {
                                if (const auto alive = self.lock()) alive->found(std::move(found));
                              });
  }

 private:
  EventLoop& loop() { return gateway_.loop_; }

  void found(GatewayOptions::Addresses addresses) {
    if (!addresses) return fail(to_text(addresses.error()));
    for (const std::string& address : *addresses) {
      const std::string reason = gateway_.options_.why_forbidden(address);
      // A rule that names the address itself is somebody's express wish.
      if (reason.empty() || judge(gateway_.rules_, address, event_.port).allowed) continue;
      // One bad address refuses the name: who answers with both hopes that we try the wrong one.
      event_.allowed = false;
      event_.rule = "address guard";
      event_.problem = address + " is " + reason;
      return end();
    }
    connect_to(std::move(*addresses));
  }

  void connect_to(std::vector<std::string> addresses) {
    addresses_ = std::move(addresses);
    connect_next();
  }

  void connect_next() {
    forget_server();
    if (next_ >= addresses_.size())
      return fail(event_.problem.empty() ? "it has no address" : event_.problem);
    event_.address = addresses_[next_++];
    sockaddr_storage storage{};
    const socklen_t size = fill(storage, event_.address, event_.port);
    if (size == 0) return connect_next();
    server_.reset(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!server_.valid()) return fail(errno_text(errno));
    if (::connect(server_.get(), reinterpret_cast<const sockaddr*>(&storage), size) < 0 &&
        errno != EINPROGRESS) {
      event_.problem = errno_text(errno);
      return connect_next();
    }
    watch(server_, EPOLLOUT, [this] { connected(); });
    set_deadline(kConnectTime, [this] {
      event_.problem = errno_text(ETIMEDOUT);
      connect_next();
    });
  }

  void connected() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      event_.problem = errno_text(error);
      return connect_next();
    }
    event_.problem.clear();
    loop().forget(server_.get());
    if (!named_) return relay();
    // Who speaks first tells what it is: a client of TLS does, a server of SSH does.
    watch(client_, EPOLLIN, [this] { inspect(); });
    watch(server_, EPOLLIN, [this] { relay(); });
    set_deadline(kHelloTime, [this] { relay(); });
  }

  // The first bytes of the client, until they say which host they are for.
  void inspect() {
    std::array<char, 4096> buffer;
    const ssize_t count = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return relay();  // it has nothing to say, and may listen
    first_.append(buffer.data(), static_cast<std::size_t>(count));
    const ClientHello hello = read_client_hello(first_);
    switch (hello.kind) {
      case ClientHello::Kind::need_more: return;
      case ClientHello::Kind::not_tls:
      case ClientHello::Kind::no_name: return relay();
      case ClientHello::Kind::malformed:
        return refuse("TLS guard", "the hello of its TLS is malformed");
      case ClientHello::Kind::named:
        if (hello.name == event_.host) return relay();
        return refuse("TLS guard", "its TLS asks for " + hello.name);
    }
  }

  void refuse(std::string_view rule, const std::string& why) {
    event_.allowed = false;
    event_.rule = rule;
    event_.problem = why;
    end();
  }

  void relay() {
    forget();
    relay_ = std::make_unique<Relay>(
        loop(), gateway_.pipes_, Relay::Sockets{std::move(client_), std::move(server_)},
        std::move(first_), [self = weak_from_this()](const Relayed& bytes) {
          const auto alive = self.lock();
          if (!alive) return;
          alive->event_.bytes = bytes;
          alive->end();
        });
    if (const Result<void> started = relay_->start(); !started) fail(to_text(started.error()));
  }

  void fail(std::string problem) {
    event_.problem = std::move(problem);
    end();
  }

  // Whatever the end is: recorded once, and no longer kept, which may destroy us.
  void end() {
    if (std::exchange(ended_, true)) return;
    forget();
    if (client_.valid()) reset_on_close(client_);
    if (gateway_.options_.record) gateway_.options_.record(event_);
    // Not here: the relay that calls us is a part of what would go.
    loop().post(
        [gateway = &gateway_, self = shared_from_this()] { gateway->connections_.erase(self); });
  }

  void watch(const UniqueFd& socket, std::uint32_t events, std::function<void()> ready) {
    const Result<void> watched = loop().watch(
        socket.get(), events, [self = weak_from_this(), ready = std::move(ready)](std::uint32_t) {
          if (const auto alive = self.lock()) ready();
        });
    if (!watched) fail(to_text(watched.error()));
  }

  void set_deadline(std::chrono::milliseconds time, std::function<void()> late) {
    if (deadline_) loop().cancel(*deadline_);
    deadline_ = loop().after(time, [self = weak_from_this(), late = std::move(late)] {
      if (const auto alive = self.lock()) late();
    });
  }

  void forget_server() {
    if (server_.valid()) loop().forget(server_.get());
    server_.reset();
  }

  void forget() {
    if (deadline_) loop().cancel(*std::exchange(deadline_, std::nullopt));
    if (client_.valid()) loop().forget(client_.get());
    if (server_.valid()) loop().forget(server_.get());
  }

  Gateway& gateway_;
  UniqueFd client_;
  UniqueFd server_{};
  ConnectionEvent event_{};
  bool named_ = false;
  bool ended_ = false;
  std::vector<std::string> addresses_{};
  std::size_t next_ = 0;
  std::string first_{};
  std::optional<EventLoop::Timer> deadline_{};
  std::unique_ptr<Relay> relay_{};
};

Gateway::Gateway(EventLoop& loop, const NameTable& table, const HostRules& rules,
                 GatewayOptions options)
    : loop_(loop), table_(table), rules_(rules), options_(std::move(options)) {}

Gateway::~Gateway() {
  for (const UniqueFd& listener : listeners_) loop_.forget(listener.get());
}

Result<void> Gateway::serve(UniqueFd listener) {
  const int fd = listener.get();
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) < 0) return system_error("fcntl", "listener");
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { accept(fd); }));
  listeners_.push_back(std::move(listener));
  return {};
}

void Gateway::accept(int listener) {
  for (int count = 0; count < kMostAccepted; ++count) {
    UniqueFd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.valid()) return;
    if (connections_.size() >= kMostConnections) {
      reset_on_close(client);
      continue;
    }
    const auto connection = std::make_shared<Connection>(*this, std::move(client));
    connections_.insert(connection);
    connection->start();
  }
}

}  // namespace coop::net
