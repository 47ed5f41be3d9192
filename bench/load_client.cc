#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "load.h"

namespace coop::bench::load {

namespace {

constexpr std::uint64_t kSmall = 1024;
constexpr std::uint64_t kEndless = std::uint64_t{1} << 50U;
constexpr std::size_t kAtOnce = 16;
constexpr std::string_view kEnd = "\r\n\r\n";

std::array<char, std::size_t{256} << 10U> buffer;

std::string request_for(const Place& place, std::uint64_t size) {
  const bool proxied = place.way == Way::proxied;
  return "GET " + (proxied ? "http://" + place.name : "") + "/" + std::to_string(size) +
         " HTTP/1.1\r\nHost: " + place.name + "\r\n" + (proxied ? place.proxy_header : "") + "\r\n";
}

std::string opening_of(const Place& place) {
  return "CONNECT " + place.name + " HTTP/1.1\r\nHost: " + place.name + "\r\n" +
         place.proxy_header + "\r\n";
}

// The number after `name` in a head, case-insensitive.
std::uint64_t field_of(std::string_view head, std::string_view name) {
  const auto same = [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == other;
  };
  const auto found = std::ranges::search(head, name, same);
  if (found.empty()) die("an answer without " + std::string(name) + std::string(head));
  const char* from = &*found.begin() + name.size();
  while (*from == ' ') ++from;
  std::uint64_t value = 0;
  std::from_chars(from, head.data() + head.size(), value);
  return value;
}

// One connection with one request at a time. Non-blocking.
class Connection {
 public:
  Connection(const Place& place, int epoll) : place_(place), epoll_(epoll) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  void ask(std::uint64_t size) {
    request_ = request_for(place_, size);
    head_.clear();
    if (fd_ < 0) return open();
    send(request_);
    state_ = State::head;
  }

  // Whether the answer is complete. Counts the bytes of its body.
  bool advance(std::uint64_t& bytes) {
    if (state_ == State::connecting) opened();
    for (;;) {
      if (state_ == State::done) return true;
      if (state_ == State::connecting) return false;
      const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
      if (count < 0 && would_block(errno)) return false;
      if (count < 0) die("recv", errno);
      if (count == 0) die("the connection ended too early: " + head_);
      take({buffer.data(), static_cast<std::size_t>(count)}, bytes);
      // A long answer: let others, and the clock, have their turn.
      if (state_ == State::body) return false;
    }
  }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  enum class State { connecting, tunnel, head, body, done };

  void open() {
    fd_ = must(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    const int yes = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const sockaddr_in& to = place_.way == Way::plain ? place_.address : place_.proxy;
    const int result = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (result < 0 && errno != EINPROGRESS) die("connect", errno);
    state_ = State::connecting;
    watch(EPOLL_CTL_ADD, result == 0 ? EPOLLIN : EPOLLOUT);
    if (result == 0) start();
  }

  void opened() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) die("connect", error);
    watch(EPOLL_CTL_MOD, EPOLLIN);
    start();
  }

  void start() {
    const bool tunnel = place_.way == Way::tunnel;
    send(tunnel ? opening_of(place_) : request_);
    state_ = tunnel ? State::tunnel : State::head;
  }

  void watch(int operation, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.ptr = this}};
    must(::epoll_ctl(epoll_, operation, fd_, &event), "epoll_ctl");
  }

  // Small enough for the send buffer.
  void send(const std::string& text) const {
    const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0) die("send", errno);
    if (static_cast<std::size_t>(sent) != text.size()) die("a request did not fit");
  }

  void take(std::string_view got, std::uint64_t& bytes) {
    if (state_ == State::body) return take_body(got.size(), bytes);
    head_ += got;
    const std::size_t end = head_.find(kEnd);
    if (end == std::string::npos) return;
    const std::string_view head = std::string_view(head_).substr(0, end);
    if (!head.contains(" 200")) die("refused: " + head_);
    if (state_ == State::tunnel) {
      head_.clear();
      send(request_);
      state_ = State::head;
      return;
    }
    left_ = field_of(head, "content-length:");
    state_ = State::body;
    take_body(head_.size() - end - kEnd.size(), bytes);
  }

  void take_body(std::uint64_t count, std::uint64_t& bytes) {
    if (count > left_) die("an answer is too long");
    left_ -= count;
    bytes += count;
    if (left_ == 0) state_ = State::done;
  }

  const Place& place_;
  int epoll_;
  int fd_ = -1;
  State state_ = State::done;
  std::string request_{};
  std::string head_{};
  std::uint64_t left_ = 0;
};

// Calls `answered` for each complete answer, until it returns false or the time is over.
class Crowd {
 public:
  enum class Then { go_on, stop };

  Crowd(const Place& place, std::size_t count) : epoll_(must(::epoll_create1(0), "epoll_create1")) {
    for (std::size_t index = 0; index < count; ++index)
      connections_.push_back(std::make_unique<Connection>(place, epoll_));
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() { ::close(epoll_); }

  Connection& operator[](std::size_t index) { return *connections_[index]; }

  void run(Clock::time_point until, const std::function<Then(Connection&)>& answered) {
    std::array<epoll_event, 64> events;
    while (Clock::now() < until) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), 5000);
      if (count == 0) die("no answer for five seconds");
      for (int index = 0; index < count; ++index) {
        auto& connection =
            *static_cast<Connection*>(events[static_cast<std::size_t>(index)].data.ptr);
        if (connection.advance(bytes) && answered(connection) == Then::stop) return;
      }
    }
  }

  std::uint64_t bytes = 0;

 private:
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_{};
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Skip the start: TCP windows grow and caches fill.
Clock::duration warm_up(Clock::duration time) { return time / 5; }

}  // namespace

double stream(const Place& place, Clock::duration time) {
  Crowd crowd(place, 1);
  crowd[0].ask(kEndless);
  const auto ended = [](Connection&) -> Crowd::Then { die("an endless answer ended"); };
  crowd.run(Clock::now() + warm_up(time), ended);
  const std::uint64_t before = crowd.bytes;
  const Clock::time_point start = Clock::now();
  crowd.run(start + time, ended);
  return static_cast<double>(crowd.bytes - before) / seconds_since(start);
}

double requests(const Place& place, Clock::duration time, Reuse reuse) {
  Crowd crowd(place, kAtOnce);
  for (std::size_t index = 0; index < kAtOnce; ++index) crowd[index].ask(kSmall);
  std::size_t answers = 0;
  const auto again = [&](Connection& connection) {
    ++answers;
    if (reuse == Reuse::one_request) connection.close();
    connection.ask(kSmall);
    return Crowd::Then::go_on;
  };
  crowd.run(Clock::now() + warm_up(time), again);
  answers = 0;
  const Clock::time_point start = Clock::now();
  crowd.run(start + time, again);
  return static_cast<double>(answers) / seconds_since(start);
}

double set_up(const Place& place, Clock::duration time) {
  Crowd crowd(place, 1);
  std::vector<double> values;
  Clock::time_point start = Clock::now();
  const Clock::time_point end = start + time;
  crowd[0].ask(kSmall);
  crowd.run(end, [&](Connection& connection) {
    values.push_back(seconds_since(start) * 1e6);
    connection.close();
    start = Clock::now();
    connection.ask(kSmall);
    return Crowd::Then::go_on;
  });
  if (values.empty()) die("no answer in time");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void rest(const Place& place, std::size_t count) {
  Crowd crowd(place, count);
  std::size_t asked = 0;
  std::size_t answers = 0;
  while (asked < std::min(count, kAtOnce)) crowd[asked++].ask(kSmall);
  crowd.run(Clock::now() + std::chrono::minutes(2), [&](Connection&) {
    if (asked < count) crowd[asked++].ask(kSmall);
    return ++answers == count ? Crowd::Then::stop : Crowd::Then::go_on;
  });
  if (answers != count) die("only " + std::to_string(answers) + " connections were answered");
  std::puts("result 0");
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

}  // namespace coop::bench::load
