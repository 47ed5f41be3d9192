// One connection of a sandbox, from accept() to its end: the common part of all kinds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "egress/egress.h"
#include "egress/target.h"
#include "egress/tls/client_hello.h"

namespace coop::egress {

enum class Closing : std::uint8_t { clean, reset };

// Owned by the egress. Each step waits for an event and names the next step; the caller of a step
// keeps the object alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Egress& egress, Admission::Slot slot, UniqueFd client);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection();

  virtual void start() = 0;
  // Records it and drops it from the egress.
  void end(Closing closing);

 protected:
  virtual void connected() = 0;                 // the outside connection is established
  virtual void not_connected(Reached why) = 0;  // event_ has the reason

  // Both lead to connected() or not_connected().
  void go(Target target);
  void go_to(std::vector<std::string> addresses);

  // Sends small data at the start of a connection: the send buffer has room.
  static bool pass(const UniqueFd& socket, std::string_view bytes);
  // Inspects the client's first bytes: a TLS ClientHello must name the requested host. Then relays.
  void inspect();
  void relay(Relay::Rewrite rewrite_answer = {});
  void refuse(Part wall, std::string why);  // the reason goes to event_
  // Sends a final answer to the client and gives it time to read it: close() with unread input
  // sends RST, which discards the answer.
  void answer(std::string_view bytes);
  void record();  // once; not if nothing was requested

  // Appends to first_ what the client has sent.
  enum class Heard : std::uint8_t { something, nothing_yet, the_end };
  Heard hear();

  template <typename Step>
  void when_ready(const UniqueFd& socket, std::uint32_t events, Step step) {
    const Result<void> watched =
        egress_.loop().watch(socket.get(), events, [this, step](std::uint32_t) {
          const auto alive = shared_from_this();
          step();
        });
    if (!watched) fail(watched.error());
  }
  template <typename Step>
  void when_late(std::chrono::milliseconds time, Step step) {
    egress_.loop().cancel(deadline_);
    deadline_ = egress_.loop().after(time, [this, step] {
      const auto alive = shared_from_this();
      step();
    });
  }
  void in_time() { egress_.loop().cancel(deadline_); }

  Egress& egress_;
  UniqueFd client_;
  NetworkEvent event_{};
  std::string first_{};  // sent by the client, not forwarded yet

 private:
  std::shared_ptr<Outbound> new_outbound();
  void refuse_tls(std::string why);
  void fail(const Error& error);
  void read_hello();
  void judge_hello();
  void pass_hello(const ClientHello& hello);
  void judge_silence();
  void judge_answer();
  void judge_second_hello();
  void drain();
  void forget();

  UniqueFd server_{};
  HostKind host_kind_ = HostKind::address;
  bool recorded_ = false;
  bool ended_ = false;
  std::uint32_t drained_ = 0;
  std::uint64_t passed_to_server_ = 0;  // before the relay started
  std::uint64_t passed_to_client_ = 0;
  EventLoop::Timer deadline_{};
  std::shared_ptr<Outbound> outbound_{};
  std::unique_ptr<Relay> relay_{};
  Admission::Slot slot_;
};

}  // namespace coop::egress
