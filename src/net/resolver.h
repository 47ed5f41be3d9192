// Names to addresses, asked of the host's name servers without blocking: a static program has no getaddrinfo().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/event_loop.h"
#include "net/resolver_config.h"

namespace coop::net {

// Asks for IPv4 and IPv6 at once, and waits a moment only for the second. Remembers answers for a minute at most, and that
// there is none for five seconds.
class Resolver {
 public:
  using Addresses = Result<std::vector<std::string>>;  // as inet_ntop() writes them, IPv4 first
  using Found = std::function<void(Addresses)>;

  Resolver(EventLoop& loop, ResolverConfig config);  // the loop outlives it
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  // Calls back from the loop, or at once when nobody need be asked. Who asks for a name that is being asked for shares
  // the answer.
  void look_up(const std::string& name, Found found);
  // Whom it asks, as things are now.
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
  Clock::time_point checked_{};  // the files
  std::unordered_map<std::string, std::shared_ptr<Question>> questions_{};
  std::unordered_map<std::string, Remembered> remembered_{};
};

}  // namespace coop::net
