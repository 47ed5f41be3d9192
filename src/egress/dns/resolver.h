// A non-blocking stub resolver: a static program has no getaddrinfo().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "egress/dns/resolver_config.h"
#include "sys/event_loop.h"

namespace coop::egress {

// Queries A and AAAA at once, and waits only briefly for the second. Caches answers for at most a
// minute, and negative answers for five seconds.
class Resolver {
 public:
  using Addresses = Result<std::vector<std::string>>;  // as inet_ntop() writes them, IPv4 first
  using Found = std::function<void(Addresses)>;

  Resolver(EventLoop& loop, ResolverConfig config);  // the loop outlives it
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // Calls back from the loop, or before it returns if no query is needed. Concurrent lookups of one
  // name share the query.
  void look_up(const std::string& name, Found found);
  // The servers, after rereading changed files.
  const std::vector<std::string>& servers();

 private:
  using Clock = std::chrono::steady_clock;
  struct Question;
  struct Remembered {
    Addresses addresses{};
    Clock::time_point until{};
  };
  void refresh();
  void ask(const std::string& name, Found found);
  void answered(Question& question);
  void finish(Question& question);
  static Remembered conclude(const Question& question);
  void remember(const std::string& name, const Remembered& conclusion);

  EventLoop& loop_;
  ResolverConfig config_;
  Clock::time_point checked_{};  // when the files were checked
  std::unordered_map<std::string, std::shared_ptr<Question>> questions_{};
  std::unordered_map<std::string, Remembered> remembered_{};
};

}  // namespace coop::egress
