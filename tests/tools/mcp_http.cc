// Streamable HTTP on a real socket: requests that official clients would never send.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "mcp/http/http.h"
#include "support/harness.h"

namespace coop::mcp {
namespace {

using coop::tests::Workspace;
using tools::CallHooks;
using tools::Toolbox;
using tools::ToolboxOptions;

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

class Connection {
 public:
  explicit Connection(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(fd_); }

  void send(std::string_view text) const {
    static_cast<void>(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  // Until the server closes, or `part` has arrived.
  std::string read_until(std::string_view part = {}) const {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::recv(fd_, buffer, sizeof buffer, 0)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(count));
      if (!part.empty() && text.find(part) != std::string::npos) break;
    }
    return text;
  }
  bool connected() const { return connected_; }

 private:
  int fd_;
  bool connected_ = false;
};

// A server in a thread of its own.
class Serving {
 public:
  explicit Serving(const Workspace& workspace)
      : tools_(Toolbox::open({.policy = Policy{.workspace = workspace.path()}}).value()),
        server_(tools_, "0.1.0"),
        http_(HttpServer::listen(server_, {.token = std::string(kToken)}).value()),
        thread_([this] { http_->serve(); }) {}
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() {
    http_->stop();
    thread_.join();
  }

  std::uint16_t port() const {
    const std::string url = http_->url();
    const std::size_t colon = url.rfind(':');
    return static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1)));
  }
  std::string head(std::string_view more, std::size_t length) const {
    return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
           "\r\nAuthorization: Bearer " + std::string(kToken) +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(length) +
           "\r\n" + std::string(more) + "\r\n";
  }
  // The whole answer to one request, on its own connection.
  std::string post(const std::string& body, std::string_view more = {}) const {
    const Connection connection(port());
    connection.send(head("Connection: close\r\n" + std::string(more), body.size()) + body);
    return connection.read_until();
  }
  std::string greet() const {
    const std::string answer =
        post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
    const std::size_t at = answer.find("Mcp-Session-Id: ");
    return at == std::string::npos ? "" : answer.substr(at, answer.find('\r', at) - at) + "\r\n";
  }

 private:
  tools::LiveTools tools_;
  Server server_;
  std::unique_ptr<HttpServer> http_;
  std::thread thread_;
};

int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

std::string stateless_call(const std::string& command) {
  return Json{{"jsonrpc", "2.0"},
              {"id", 1},
              {"method", "tools/call"},
              {"params",
               {{"name", "bash"},
                {"arguments", {{"command", command}}},
                {"_meta",
                 {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                  {"io.modelcontextprotocol/clientCapabilities", Json::object()}}}}}}
      .dump();
}
constexpr std::string_view kStateless =
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: bash\r\n";

KERNEL_TEST(McpHttp, SessionsBeginWithAGreetingAndEndWhenTheyAreDeleted) {
  const Workspace workspace;
  const Serving serving(workspace);
  const std::string session = serving.greet();
  ASSERT_FALSE(session.empty());
  const std::string ping = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  EXPECT_EQ(status_of(serving.post(ping, session)), 200);
  EXPECT_EQ(status_of(serving.post(ping)), 400);
  EXPECT_EQ(status_of(serving.post(ping, "Mcp-Session-Id: another\r\n")), 404);
  const Connection connection(serving.port());
  std::string remove = serving.head("Connection: close\r\n" + session, 0);
  remove.replace(0, 4, "DELETE");
  connection.send(remove);
  EXPECT_EQ(status_of(connection.read_until()), 204);
  EXPECT_EQ(status_of(serving.post(ping, session)), 404);
}

KERNEL_TEST(McpHttp, WhatIsNoMessageIsRefusedAndTheServerGoesOn) {
  const Workspace workspace;
  const Serving serving(workspace);
  const std::string session = serving.greet();
  const std::vector<std::pair<std::string, int>> cases{
      {"{", 400},
      {"[]", 400},
      {"[5]", 400},
      {"5", 200},  // the protocol's own error
      {R"({"jsonrpc":"2.0","method":"notifications/initialized"})", 202},
      {R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])", 202},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])",
       200},
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", 202},
      {R"({"jsonrpc":"2.0","id":1,"method":"no/such"})", 200},
  };
  for (const auto& [body, status] : cases)
    EXPECT_EQ(status_of(serving.post(body, session)), status) << body;
  for (const char* request : {"\r\n\r\n", "GARBAGE\r\n\r\n", "POST /mcp HTTP/9.9\r\n\r\n",
                              "\x16\x03\x01 TLS hello\r\n\r\n"}) {
    const Connection connection(serving.port());
    connection.send(request);
    EXPECT_NE(status_of(connection.read_until()), 200) << request;
  }
  EXPECT_EQ(status_of(serving.post(R"({"jsonrpc":"2.0","id":2,"method":"ping"})", session)), 200);
}

KERNEL_TEST(McpHttp, WithoutTheTokenNotEvenTheBodyIsRead) {
  const Workspace workspace;
  const Serving serving(workspace);
  const Connection connection(serving.port());
  // 60 MB are announced and none is sent: the answer comes nevertheless.
  connection.send("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(serving.port()) +
                  "\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n");
  EXPECT_EQ(status_of(connection.read_until()), 401);
  const Connection large(serving.port());
  large.send(serving.head("", std::size_t{1} << 30U));
  EXPECT_EQ(status_of(large.read_until()), 413);
  const Connection long_head(serving.port());
  long_head.send("POST /mcp HTTP/1.1\r\nX: " + std::string(100000, 'x') + "\r\n\r\n");
  EXPECT_NE(status_of(long_head.read_until()), 200);
}

KERNEL_TEST(McpHttp, IdleConnectionsDoNotBlockOthers) {
  const Workspace workspace;
  const Serving serving(workspace);
  std::vector<std::unique_ptr<Connection>> silent;
  for (int count = 0; count < 400; ++count) {  // more than there is room for
    silent.push_back(std::make_unique<Connection>(serving.port()));
    silent.back()->send("POST /mcp HT");
  }
  EXPECT_FALSE(serving.greet().empty());
}

KERNEL_TEST(McpHttp, InTheStatelessRevisionHangingUpCancels) {
  const Workspace workspace;
  const Serving serving(workspace);
  const std::string control = serving.post(stateless_call("echo hello"), kStateless);
  EXPECT_EQ(status_of(control), 200);
  EXPECT_NE(control.find("hello"), std::string::npos) << control;

  const std::string marker = "62." + std::to_string(::getpid());
  {
    const Connection connection(serving.port());
    const std::string body = stateless_call("sleep " + marker);
    connection.send(serving.head(kStateless, body.size()) + body);
    for (int round = 0; round < 500 && coop::tests::processes_with(marker).empty(); ++round)
      ::usleep(10000);
    EXPECT_FALSE(coop::tests::processes_with(marker).empty());
  }
  EXPECT_TRUE(coop::tests::all_gone(marker));
}

KERNEL_TEST(McpHttp, AnotherRevisionIsRefusedWithTheOnesThatAreSpoken) {
  const Workspace workspace;
  const Serving serving(workspace);
  const std::string unknown =
      serving.post(stateless_call("true"), "MCP-Protocol-Version: 2099-01-01\r\n");
  EXPECT_EQ(status_of(unknown), 400);
  EXPECT_NE(unknown.find(R"("supported":["2026-07-28"])"), std::string::npos) << unknown;
  const std::string mismatch = serving.post(
      stateless_call("true"),
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nMcp-Name: bash\r\n");
  EXPECT_EQ(status_of(mismatch), 400);
  Json without = Json::parse(stateless_call("true"));
  without["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  const std::string incomplete = serving.post(without.dump(), kStateless);
  EXPECT_EQ(status_of(incomplete), 400);
  EXPECT_NE(incomplete.find("-32602"), std::string::npos) << incomplete;
  for (const std::string& answer : {unknown, mismatch, incomplete})
    EXPECT_NE(answer.find(R"("id":1,)"), std::string::npos) << answer;
}

}  // namespace
}  // namespace coop::mcp
