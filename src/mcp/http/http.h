// Streamable HTTP: the transport for clients that do not start the server themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/server.h"

namespace coop::mcp {

struct HttpOptions {
  std::string address = "127.0.0.1";  // "127.0.0.1" or "::1", nothing else
  std::uint16_t port = 0;             // 0: the kernel chooses
  std::string token{};                // required of clients
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0" or a port alone; addresses that are not loopback are refused.
Result<HttpOptions> parse_listen_address(std::string_view text);

// 256 random bits as text.
Result<std::string> make_token();

class HttpServer {
 public:
  // Listens from now on. `server` outlives it.
  static Result<std::unique_ptr<HttpServer>> listen(Server& server, HttpOptions options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::string url() const;  // "http://127.0.0.1:8080/mcp"

  // Serves until stop(), SIGINT or SIGTERM.
  void serve();
  void stop();  // from any thread

  struct State;
  explicit HttpServer(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace coop::mcp
