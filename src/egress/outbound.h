// A connection to the outside: judged, resolved, checked and made.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coop/sandbox.h"
#include "policy/destinations/judge.h"
#include "sys/event_loop.h"

namespace coop::egress {

struct OutboundOptions {
  using Addresses = Result<std::vector<std::string>>;  // as inet_ntop() writes them
  // Resolves a name outside; calls back from the loop.
  std::function<void(const std::string& name, std::function<void(Addresses)> found)> look_up{};
  policy::AddressGuard guard{};
  std::chrono::milliseconds time_of_one{10000};  // for one address
  std::chrono::milliseconds time_of_all{
      30000};  // from the question for its name to the last of its addresses
};

enum class HostKind : std::uint8_t { name, address };

// How an attempt ended; the event has the reason.
enum class Reached : std::uint8_t {
  connected,
  refused,  // by us
  refused_by_host,
  unreachable,
  timed_out,
};

// Nothing for what is no address.
std::optional<Destination> destination_of(HostKind kind, const std::string& host,
                                          std::uint16_t port);

// One attempt. Destroying it aborts it.
class Outbound : public std::enable_shared_from_this<Outbound> {
 public:
  // The socket is non-blocking; valid when connected. May be called before go_to() returns, and may
  // destroy the attempt.
  using Done = std::function<void(Reached, UniqueFd server)>;

  // The arguments outlive it. `event` has the host and port, and receives the verdict, the address
  // and the error.
  Outbound(EventLoop& loop, const policy::DestinationRules& rules, const OutboundOptions& options,
           NetworkEvent& event, Done done);
  Outbound(const Outbound&) = delete;
  Outbound& operator=(const Outbound&) = delete;
  ~Outbound();

  // Applies the rules: one forbidden address refuses a name.
  void go(HostKind kind);
  // Connects to the first of these that answers, regardless of the rules.
  void go_to(std::vector<std::string> addresses);

 private:
  void found(OutboundOptions::Addresses addresses);
  void refuse(const policy::Verdict& verdict, const Destination& asked);
  void connect_next();
  void connected();
  void late();
  void set_deadline(std::chrono::milliseconds time);
  void done(Reached reached);

  EventLoop& loop_;
  const policy::DestinationRules& rules_;
  const OutboundOptions& options_;
  NetworkEvent& event_;
  Done done_;
  UniqueFd server_{};
  std::vector<std::string> addresses_{};
  std::size_t next_ = 0;
  Reached last_ = Reached::unreachable;  // the result of the previous address
  std::chrono::steady_clock::time_point give_up_{};
  EventLoop::Timer deadline_{};
};

}  // namespace coop::egress
