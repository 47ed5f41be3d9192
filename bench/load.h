// Shared by both sides of network_load. It is a separate program without our libraries: it runs
// inside every sandbox.
#pragma once

#include <netinet/in.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace coop::bench::load {

using Clock = std::chrono::steady_clock;

// Abort: an incomplete figure is worse than none.
[[noreturn]] inline void die(const std::string& operation, int error) {
  std::fprintf(stderr, "network_load: %s: %s\n", operation.c_str(), std::strerror(error));
  std::exit(1);
}
[[noreturn]] inline void die(const std::string& message) {
  std::fprintf(stderr, "network_load: %s\n", message.c_str());
  std::exit(1);
}
// For results of system calls: a negative number is an error.
inline int must(int result, const char* operation) {
  if (result < 0) die(operation, errno);
  return result;
}

inline bool would_block(int error) { return error == EAGAIN || error == EINTR; }

// How to reach the server: directly, or by one of the two ways of a proxy.
enum class Way { plain, tunnel, proxied };

struct Place {
  std::string name{};  // "192.0.2.1:8000"
  sockaddr_in address{};
  Way way = Way::plain;
  sockaddr_in proxy{};
  std::string proxy_header{};  // its Proxy-Authorization header
};

// Answers "GET /N" with N bytes, repeatedly on one connection. Never returns.
[[noreturn]] void serve(const sockaddr_in& address);

// Bytes per second of one long answer.
double stream(const Place& place, Clock::duration time);

enum class Reuse { one_request, many_requests };  // of a connection
// Small answers per second, several connections at once.
double requests(const Place& place, Clock::duration time, Reuse reuse);

// The median of microseconds from the first packet of a connection to the end of a small answer,
// sequentially.
double set_up(const Place& place, Clock::duration time);

// Opens `count` connections and uses each once; returns at the end of standard input.
void rest(const Place& place, std::size_t count);

}  // namespace coop::bench::load
