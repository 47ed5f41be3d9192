// Relays UDP from a sandbox to destinations that rules allow, and the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coop/sandbox.h"
#include "policy/destinations/judge.h"
#include "sys/event_loop.h"

namespace coop::egress {

struct UdpOptions {
  std::function<policy::Verdict(const Destination& asked)> judge{};
  std::function<void(const NetworkEvent&)> record{};  // a flow at its end, a refusal once
  std::size_t most_flows = 512;                       // beyond that the flow idle longest ends
  std::chrono::milliseconds idle{60000};
};

// nftables inside redirects such a datagram to a port of ours and keeps its address: IP_PKTINFO
// gives the address, and the socket determines the original port. Each pair of client and
// destination has its own connected socket outside, which receives from that destination only.
class UdpRelay {
 public:
  UdpRelay(EventLoop& loop, UdpOptions options);  // the loop outlives it
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;
  ~UdpRelay();  // records flows that are still open

  // `socket` is bound to 0.0.0.0 or ::, inside; `port` is the original destination port of its
  // datagrams.
  Result<void> serve(UniqueFd socket, std::uint16_t port);
  std::size_t flows() const { return flows_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Listener {
    UniqueFd socket{};
    std::uint16_t port = 0;
  };
  struct Key {
    int listener = -1;
    std::string client{};       // its socket address, as the kernel returned it
    std::string destination{};  // 4 or 16 bytes
    auto operator<=>(const Key&) const = default;
  };
  struct Flow {
    UniqueFd socket{};
    NetworkEvent event{};
    Clock::time_point used{};
  };
  using Flows = std::map<Key, Flow>;

  void receive(const Listener& listener);
  void pass_on(const Listener& listener, Key key, std::string_view content);
  Flows::iterator open(const Listener& listener, Key key);
  void refuse(const NetworkEvent& event);
  void answer(const Key& key);
  void make_room();
  void end(Flows::iterator flow);
  void end_idle();

  EventLoop& loop_;
  UdpOptions options_;
  std::vector<std::unique_ptr<Listener>> listeners_{};
  Flows flows_{};
  std::set<std::pair<std::string, std::uint16_t>> refused_{};
  EventLoop::Timer timer_{};
};

}  // namespace coop::egress
