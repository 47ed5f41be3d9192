// Small HTTP servers on loopback, and address rules for them.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/web/urls.h"

namespace coop::test {

inline const tools::FetchRules kLoopback{.addresses = {"127.0.0.1"}};

inline bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// One connection after the other, one request on each. `answer` gets the request's head.
class Server {
 public:
  using Answer = std::function<void(int fd, const std::string& head)>;

  explicit Server(Answer answer, const char* address = "127.0.0.1", std::uint16_t port = 0)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &name.sin_addr);
    socklen_t size = sizeof name;
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    port_ = ntohs(name.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);  // ends accept()
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path, std::string_view host = "127.0.0.1") const {
    return "http://" + std::string(host) + ":" + std::to_string(port_) + std::string(path);
  }
  int connections() const { return connections_; }
  std::string last_head() const {
    const std::lock_guard lock(mutex_);
    return last_head_;
  }

 private:
  void serve() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      std::string head;
      char buffer[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        head.append(buffer, static_cast<std::size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        last_head_ = head;
      }
      answer_(fd, head);
      ::close(fd);
    }
  }

  Answer answer_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_{};
  std::string last_head_{};
  std::thread thread_{};
};

inline std::string response(std::string_view status, std::string_view headers,
                            std::string_view body) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

inline std::string redirect_to(std::string_view location) {
  return response("302 Found", "Location: " + std::string(location) + "\r\n", "moved");
}

inline Server::Answer always(std::string text) {
  return [text = std::move(text)](int fd, const std::string&) { send_all(fd, text); };
}

// Each path its answer; what is not there is a 404.
inline Server::Answer site(std::map<std::string, std::string> pages) {
  return [pages = std::move(pages)](int fd, const std::string& head) {
    const std::size_t start = head.find(' ') + 1;
    const auto page = pages.find(head.substr(start, head.find(' ', start) - start));
    send_all(fd, page == pages.end() ? response("404 Not Found", "", "") : page->second);
  };
}

inline Result<std::vector<std::string>> no_resolver(const std::string& host) {
  return invalid("resolve " + host, "no name may be resolved in this test");
}

}  // namespace coop::test
