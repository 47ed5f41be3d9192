// The Model Context Protocol on a session of tools, whatever carries the messages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tools/session.h"

namespace coop::tools::mcp {

// Carries one message to the client; called from several threads at once.
using Send = std::function<void(const Json& message)>;

class Server {
 public:
  // `session` outlives the server.
  Server(Session& session, Path workspace, std::string version);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Cancels what still runs, and waits for its end.
  ~Server();

  // One message of the client, as text. Answers go to `send`, some of them later and from other
  // threads. What is not JSON-RPC gets the error the protocol has for it.
  void receive(std::string_view message, const Send& send);

  // Cancels what still runs, and waits for its end: nobody is there to be told.
  void stop();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Serves one client on two descriptors, a message a line, until the input ends.
Result<void> serve_stdio(Server& server, int input, int output);

}  // namespace coop::tools::mcp
