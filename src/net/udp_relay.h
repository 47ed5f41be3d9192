// Datagrams of a sandbox to addresses that rules name, and the answers to them.
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
#include "net/event_loop.h"
#include "net/host_rules.h"

namespace coop::net {

struct UdpOptions {
  // `address` as inet_ntop() writes it.
  std::function<HostVerdict(const std::string& address, std::uint16_t port)> allowed{};
  std::function<void(const NetworkEvent&)> record{};  // a flow at its end, a refusal once
  std::size_t most_flows = 512;                       // then the one that rested longest ends
  std::chrono::milliseconds idle{60000};
};

// Inside, the firewall changes the port of such a datagram to that of a socket of ours and leaves the address as it is:
// the control data tells that, and the socket's rule tells the port. Each client and destination have a socket of their own
// outside, which hears nobody but that destination.
class UdpRelay {
 public:
  UdpRelay(EventLoop& loop, UdpOptions options);  // the loop outlives it
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;
  ~UdpRelay();  // records what is still open

  // `socket` is bound to 0.0.0.0 or ::, inside; `port` is where its datagrams were going.
  Result<void> serve(UniqueFd socket, std::uint16_t port);
  std::size_t flows() const { return flows_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Listener {
    UniqueFd socket{};
    std::uint16_t port = 0;
  };
  struct Datagram;
  struct Key {
    int listener = -1;
    std::string client{};       // its socket address, as the kernel gave it
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
  void pass_on(const Listener& listener, const Datagram& datagram);
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

}  // namespace coop::net
