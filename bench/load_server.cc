#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "load.h"

namespace coop::bench::load {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";
constexpr std::size_t kPiece = std::size_t{256} << 10U;

struct Client {
  std::string asked{};
  std::string head{};       // of the answer, not sent yet
  std::uint64_t body = 0;   // bytes of it not sent yet
  bool wants_room = false;  // the last write was partial
};

const std::string& piece() {
  static const std::string bytes(kPiece, 'x');
  return bytes;
}

enum class After { keep, close };

After send_answer(int fd, Client& client) {
  client.wants_room = false;
  while (!client.head.empty() || client.body > 0) {
    // Send the head together with the start of the body, as servers do.
    const bool in_head = !client.head.empty();
    if (in_head && client.body > 0 && client.body < kPiece) {
      client.head.append(client.body, 'x');
      client.body = 0;
    }
    const std::string& from = in_head ? client.head : piece();
    const std::size_t size =
        in_head ? from.size() : std::min<std::uint64_t>(client.body, from.size());
    const ssize_t sent = ::send(fd, from.data(), size, MSG_NOSIGNAL);
    if (sent < 0 && !would_block(errno)) return After::close;
    if (sent < 0) {
      client.wants_room = true;
      return After::keep;
    }
    if (in_head) client.head.erase(0, static_cast<std::size_t>(sent));
    else client.body -= static_cast<std::uint64_t>(sent);
  }
  return After::keep;
}

After answer(int fd, Client& client) {
  const std::size_t end = client.asked.find(kEnd);
  if (end == std::string::npos) return After::keep;
  const std::size_t slash = client.asked.find('/');
  std::uint64_t size = 0;
  const auto read =
      std::from_chars(client.asked.data() + slash + 1, client.asked.data() + end, size);
  if (!client.asked.starts_with("GET ") || read.ec != std::errc{}) return After::close;
  client.asked.erase(0, end + kEnd.size());
  client.head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  client.body = size;
  return send_answer(fd, client);
}

After listen_to(int fd, Client& client) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (count < 0 && would_block(errno)) return After::keep;
  if (count <= 0) return After::close;
  client.asked.append(buffer.data(), static_cast<std::size_t>(count));
  return answer(fd, client);
}

class Server {
 public:
  explicit Server(const sockaddr_in& address)
      : listener_(must(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket")),
        epoll_(must(::epoll_create1(0), "epoll_create1")) {
    const int yes = 1;
    constexpr int kBacklog = 4096;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    must(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
    must(::listen(listener_, kBacklog), "listen");
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int index = 0; index < count; ++index) {
        const epoll_event& event = events[static_cast<std::size_t>(index)];
        if (event.data.fd == listener_) accept();
        else ready(event.data.fd);
      }
    }
  }

 private:
  void watch(int operation, int fd, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.fd = fd}};
    must(::epoll_ctl(epoll_, operation, fd, &event), "epoll_ctl");
  }

  void accept() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      clients_.emplace(fd, Client{});
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
  }

  void ready(int fd) {
    Client& client = clients_[fd];
    const bool waited = client.wants_room;
    const After after = waited ? send_answer(fd, client) : listen_to(fd, client);
    if (after == After::close) {
      clients_.erase(fd);
      ::close(fd);
    } else if (client.wants_room != waited) {
      watch(EPOLL_CTL_MOD, fd, client.wants_room ? EPOLLOUT : EPOLLIN);
    }
  }

  int listener_;
  int epoll_;
  std::unordered_map<int, Client> clients_{};
};

}  // namespace

void serve(const sockaddr_in& address) {
  Server server(address);
  std::puts("ready");
  std::fflush(stdout);
  server.run();
}

}  // namespace coop::bench::load
