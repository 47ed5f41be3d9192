// The Model Context Protocol on a toolbox, whatever carries the messages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/offer.h"

namespace coop::mcp {

inline constexpr std::size_t kLargestMessage = std::size_t{64} << 20U;

// Sends one message to the client; called from several threads at once. A null instead of an answer
// means that none will come: the request was cancelled.
using Send = std::function<void(const Json& message)>;

class Server {
 public:
  // `tools` outlive the server.
  Server(tools::LiveTools& tools, std::string version);
  Server(LookForOffer look, std::string version);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Cancels running calls, and waits for them.
  ~Server();

  // One message of a client, as text or parsed. Answers go to `send`, possibly later and from other
  // threads: exactly one for each request. Invalid messages get the protocol's error. `client`
  // distinguishes clients that may use the same ids.
  void receive_text(std::string_view text, const Send& send, const std::string& client = {});
  void receive(const Json& message, const Send& send, const std::string& client = {});

  // For a client that is waiting: tells it when the tools have changed.
  void look_around(const Send& send, const std::string& client = {});

  // The client has disconnected: its requests are cancelled.
  void forget(const std::string& client);

  // Cancels what still runs, and waits for its end. Nothing is sent any more.
  void stop();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Serves one client on two descriptors, one message per line, until EOF.
Result<void> serve_stdio(Server& server, int input, int output);

}  // namespace coop::mcp
