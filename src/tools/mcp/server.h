// The Model Context Protocol on a session of tools, whatever carries the messages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tools/session.h"

namespace coop::tools::mcp {

inline constexpr std::size_t kLargestMessage = std::size_t{64} << 20U;

// Carries one message to the client; called from several threads at once. A null instead of an answer says
// that none will come: the request was cancelled.
using Send = std::function<void(const Json& message)>;

class Server {
 public:
  // `session` outlives the server.
  Server(Session& session, std::string version);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Cancels what still runs, and waits for its end.
  ~Server();

  // One message of a client, as text or parsed. Answers go to `send`, some of them later and from other
  // threads: exactly one for each request. What is not JSON-RPC gets the error the
  // protocol has for it. `client` tells those apart whose requests may have the same ids.
  void receive_text(std::string_view text, const Send& send, const std::string& client = {});
  void receive(const Json& message, const Send& send, const std::string& client = {});

  // The client has gone away: what it asked for is cancelled.
  void forget(const std::string& client);

  // Cancels what still runs, and waits for its end: nobody is there to be told.
  void stop();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Serves one client on two descriptors, a message a line, until the input ends.
Result<void> serve_stdio(Server& server, int input, int output);

}  // namespace coop::tools::mcp
