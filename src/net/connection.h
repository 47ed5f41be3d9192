// One connection of a sandbox, from its acceptance to its end: what all ways out have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/client_hello.h"
#include "net/egress.h"
#include "net/target.h"

namespace coop::net {

enum class Closing : std::uint8_t { clean, reset };

// Kept by the egress. Each step waits for something and names the next; whatever calls a step keeps us alive meanwhile.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Egress& egress, Admission::Slot slot, UniqueFd client);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection();

  virtual void start() = 0;
  // Recorded, and no longer kept.
  void end(Closing closing);

 protected:
  virtual void connected() = 0;                 // the outside connection stands
  virtual void not_connected(Reached why) = 0;  // event_ has the words

  // Both lead to connected() or not_connected().
  void go(Target target);
  void go_to(std::vector<std::string> addresses);

  // What the client says first decides: a hello of TLS must name the host that was asked for. What agrees is relayed.
  void inspect();
  void relay();
  void refuse(std::string_view rule, std::string why);  // in event_
  // The last words to the client, which then has some time to read them: who closes with bytes unread sends a reset, and
  // that takes away what was said before it.
  void answer(std::string_view bytes);
  void record();  // once; nothing where nothing was asked for

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
  std::string first_{};  // what the client sent, and nobody has got yet

 private:
  std::shared_ptr<Outbound> new_outbound();
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
  std::uint64_t passed_to_server_ = 0;  // before there was a relay
  std::uint64_t passed_to_client_ = 0;
  EventLoop::Timer deadline_{};
  std::shared_ptr<Outbound> outbound_{};
  std::unique_ptr<Relay> relay_{};
  Admission::Slot slot_;
};

}  // namespace coop::net
