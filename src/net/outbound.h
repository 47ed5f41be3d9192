// A connection to the world: judged, looked up, guarded and made.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coop/sandbox.h"
#include "net/event_loop.h"
#include "net/host_rules.h"

namespace coop::net {

struct OutboundOptions {
  using Addresses = Result<std::vector<std::string>>;  // as inet_ntop() writes them
  // Finds a name's addresses outside; calls back from the loop.
  std::function<void(const std::string& name, std::function<void(Addresses)> found)> look_up{};
  // Why an address must not be reached under a name, whatever the rules say of that; empty: it may.
  std::function<std::string(const std::string& address)> why_forbidden{};
  std::chrono::milliseconds time_of_one{10000};  // for one address
  std::chrono::milliseconds time_of_all{
      30000};  // from the question for its name to the last of its addresses
};

enum class HostKind : std::uint8_t { name, address };

// How an attempt ended; the event has the words for it.
enum class Reached : std::uint8_t {
  connected,
  refused,  // by us
  refused_by_host,
  unreachable,
  timed_out,
};

// One attempt. Destroying it gives it up.
class Outbound : public std::enable_shared_from_this<Outbound> {
 public:
  // The socket does not block; it is valid when connected. May be called before go_to() returns, and may destroy the attempt.
  using Done = std::function<void(Reached, UniqueFd server)>;

  // All of these outlive it. `event` says which host and port, and gets the verdict, the address and what went wrong.
  Outbound(EventLoop& loop, const HostRules& rules, const OutboundOptions& options,
           NetworkEvent& event, Done done);
  Outbound(const Outbound&) = delete;
  Outbound& operator=(const Outbound&) = delete;
  ~Outbound();

  // To where the rules allow it: one address that is forbidden refuses a name.
  void go(HostKind kind);
  // To the first of these that answers, whatever the rules say.
  void go_to(std::vector<std::string> addresses);

 private:
  void found(OutboundOptions::Addresses addresses);
  void connect_next();
  void connected();
  void late();
  void set_deadline(std::chrono::milliseconds time);
  void done(Reached reached);

  EventLoop& loop_;
  const HostRules& rules_;
  const OutboundOptions& options_;
  NetworkEvent& event_;
  Done done_;
  UniqueFd server_{};
  std::vector<std::string> addresses_{};
  std::size_t next_ = 0;
  Reached last_ = Reached::unreachable;  // what became of the address before
  std::chrono::steady_clock::time_point give_up_{};
  EventLoop::Timer deadline_{};
};

}  // namespace coop::net
