// The protocol, message by message, on a real toolbox.
#include "mcp/server.h"

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "support/harness.h"

namespace coop::mcp {
namespace {

using coop::tests::Workspace;
using tools::CallHooks;
using tools::tool_table;
using tools::Toolbox;
using tools::ToolboxOptions;

// A client that records every message and can wait for the answer to one.
class Client {
 public:
  explicit Client(const Workspace& workspace, policy::TrustLevel trust = policy::TrustLevel::full)
      : tools_(open(workspace, trust)), server_(tools_, "0.1.0") {}

  void send(const Json& message) { send_text(message.dump()); }
  void send_text(const std::string& text) {
    server_.receive_text(text, [this](const Json& answer) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(answer);
      changed_.notify_all();
    });
  }

  Json ask(const std::string& method, const Json& params = Json::object()) {
    const int id = ++last_id_;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    return answer_to(id);
  }

  Json call(const std::string& name, const Json& arguments) {
    return ask("tools/call", {{"name", name}, {"arguments", arguments}})["result"];
  }

  Json answer_to(const Json& id) {
    std::unique_lock lock(mutex_);
    Json found;
    changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      for (const Json& message : messages_)
        if (message.is_object() && message.contains("id") && message["id"] == id) found = message;
      return !found.is_null();
    });
    return found;
  }

  std::vector<Json> notifications() {
    const std::lock_guard lock(mutex_);
    std::vector<Json> found;
    for (const Json& message : messages_)
      if (message.contains("method")) found.push_back(message);
    return found;
  }
  Json last() {
    const std::lock_guard lock(mutex_);
    return messages_.empty() ? Json() : messages_.back();
  }
  void stop() { server_.stop(); }

 private:
  static std::unique_ptr<Toolbox> open(const Workspace& workspace, policy::TrustLevel trust) {
    return std::move(
        Toolbox::open({.trust = trust, .policy = Policy{.workspace = workspace.path()}}).value());
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<Json> messages_{};
  int last_id_ = 0;
  tools::LiveTools tools_;
  Server server_;
};

KERNEL_TEST(McpServer, GreetsInTheVersionTheClientSpeaks) {
  const Workspace workspace;
  Client client(workspace);
  const Json old = client.ask("initialize", {{"protocolVersion", "2025-03-26"}});
  EXPECT_EQ(old["result"]["protocolVersion"], "2025-03-26");
  EXPECT_EQ(old["result"]["serverInfo"]["name"], "coop");
  const Json unknown = client.ask("initialize", {{"protocolVersion", "1999-01-01"}});
  EXPECT_EQ(unknown["result"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(client.ask("ping")["result"], Json::object());
}

KERNEL_TEST(McpServer, ListsTheToolsOfTheTrust) {
  const Workspace workspace;
  Client familiar(workspace, policy::TrustLevel::familiar);
  Json names = Json::array();
  const Json answer = familiar.ask("tools/list");
  for (const Json& tool : answer["result"]["tools"]) {
    names.push_back(tool["name"]);
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
  }
  EXPECT_EQ(names, (Json{"read_file", "list_files", "search_files"}));
}

KERNEL_TEST(McpServer, WhereAToolRunsDoesNotChangeItsDefinition) {
  const Workspace workspace;
  Client owner(workspace, policy::TrustLevel::owner);  // on the host
  Client full(workspace, policy::TrustLevel::full);    // in the sandbox
  const Json definitions = full.ask("tools/list")["result"]["tools"];
  EXPECT_EQ(definitions.size(), tool_table().size());
  EXPECT_EQ(owner.ask("tools/list")["result"]["tools"], definitions);
}

KERNEL_TEST(McpServer, CallsAToolAndGivesTextAndStructure) {
  const Workspace workspace;
  Client client(workspace);
  const Json answer =
      client.ask("tools/call", {{"name", "bash"}, {"arguments", {{"command", "echo hello"}}}});
  EXPECT_EQ(answer["result"]["content"][0]["text"], "hello\n");
  EXPECT_EQ(answer["result"]["structuredContent"]["exit_code"], 0);
  EXPECT_EQ(answer["result"]["isError"], false);
  const Json refused = client.ask("tools/call", {{"name", "bash"}, {"arguments", Json::object()}});
  EXPECT_EQ(refused["result"]["isError"], true);
  EXPECT_EQ(client.ask("tools/call", {{"name", "nothing"}})["error"]["code"], -32602);
}

KERNEL_TEST(McpServer, EveryResultHasTheTextInBothPartsAndASchema) {
  const Workspace workspace;
  Client client(workspace);
  for (const Json& tool : client.ask("tools/list")["result"]["tools"]) {
    EXPECT_EQ(tool["outputSchema"]["type"], "object") << tool;
    EXPECT_TRUE(tool["outputSchema"]["properties"].contains("text")) << tool;
  }
  client.call("write_file", {{"path", "notes"}, {"content", "found me\n"}});
  for (const auto& [name, arguments] :
       std::vector<std::pair<std::string, Json>>{{"read_file", {{"path", "notes"}}},
                                                 {"list_files", Json::object()},
                                                 {"search_files", {{"pattern", "found"}}},
                                                 {"read_file", {{"path", "missing"}}}}) {
    const Json result = client.call(name, arguments);
    EXPECT_NE(result["content"][0]["text"], "");
    EXPECT_EQ(result["structuredContent"]["text"], result["content"][0]["text"]) << name;
  }
  const Json ran = client.call("bash", {{"command", "cat notes"}});
  EXPECT_EQ(ran["structuredContent"]["stdout"]["text"], "found me\n");
  EXPECT_FALSE(ran["structuredContent"].contains("text"));
}

KERNEL_TEST(McpServer, AClientThatWouldShowItTwiceGetsTheTextAlone) {
  const Workspace workspace;
  Client client(workspace);
  const Json info{{"name", "github-copilot-developer"}, {"version", "1"}};
  client.ask("initialize", {{"protocolVersion", "2025-11-25"}, {"clientInfo", info}});
  EXPECT_FALSE(client.ask("tools/list")["result"]["tools"][0].contains("outputSchema"));
  const Json result = client.call("bash", {{"command", "echo once"}});
  EXPECT_EQ(result["content"][0]["text"], "once\n");
  EXPECT_FALSE(result.contains("structuredContent"));
}

KERNEL_TEST(McpServer, MuchOutputIsCutUnlessAProgramAsksForAll) {
  const Workspace workspace;
  Client client(workspace);
  const Json arguments{{"command", "yes abcdefg | head -c 90000"}};
  const Json shown = client.call("bash", arguments);
  EXPECT_LE(shown["structuredContent"].dump().size(), 50'000U);
  EXPECT_EQ(shown["structuredContent"]["stdout"]["total_bytes"], 90'000);
  EXPECT_LE(shown["content"][0]["text"].get<std::string>().size(), 50'100U);
  const Json whole = client.ask(
      "tools/call",
      {{"name", "bash"}, {"arguments", arguments}, {"_meta", {{"coop/whole", true}}}})["result"];
  EXPECT_EQ(whole["structuredContent"]["stdout"]["text"].get<std::string>().size(), 90'000U);
}

// The _meta that the stateless revision requires in every request.
Json stateless(Json params = Json::object(), const std::string& version = "2026-07-28") {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", version},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return params;
}

KERNEL_TEST(McpServer, ImagesAreContentAndOtherBytesAreBlobs) {
  const Workspace workspace;
  Client client(workspace);
  client.call("bash", {{"command",
                        R"(printf '\211PNG\r\n\032\n\0' > image; printf '\177ELF\0' > program)"}});
  const Json image = client.call("read_file", {{"path", "image"}});
  EXPECT_EQ(image["content"][1],
            (Json{{"type", "image"}, {"data", "iVBORw0KGgoA"}, {"mimeType", "image/png"}}));
  EXPECT_FALSE(image["structuredContent"].contains("data"));
  const Json text{{"type", "text"},
                  {"text", "program is a binary file of 5 B (5 bytes, application/octet-stream)"}};
  const Json blob{{"type", "resource"},
                  {"resource",
                   {{"uri", "file:///work/program"},
                    {"mimeType", "application/octet-stream"},
                    {"blob", "f0VMRgA="}}}};
  const Json ask{{"name", "read_file"}, {"arguments", {{"path", "program"}}}};
  for (const Json& parameters : {ask, stateless(ask)})
    EXPECT_EQ(client.ask("tools/call", parameters)["result"]["content"], Json::array({text, blob}));
  const Json sent = client.call("send_file", {{"path", "program"}});
  EXPECT_EQ(sent["content"][1]["resource"]["blob"], "f0VMRgA=");
  const Json read = client.ask("resources/read", {{"uri", "file:///work/program"}});
  EXPECT_EQ(read["result"]["contents"][0], (Json{{"uri", "file:///work/program"},
                                                 {"mimeType", "application/octet-stream"},
                                                 {"blob", "f0VMRgA="}}));
}

KERNEL_TEST(McpServer, ReportsProgressToWhoAsksForIt) {
  const Workspace workspace;
  Client client(workspace);
  const Json answer =
      client.ask("tools/call", {{"name", "bash"},
                                {"arguments", {{"command", "yes zzzz | head -c 200000"}}},
                                {"_meta", {{"progressToken", "t"}}}});
  EXPECT_EQ(answer["result"]["isError"], false);
  const std::vector<Json> notes = client.notifications();
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front()["method"], "notifications/progress");
  EXPECT_EQ(notes.front()["params"]["progressToken"], "t");
}

KERNEL_TEST(McpServer, ACancelledCallIsKilledAndNotAnswered) {
  const Workspace workspace;
  Client client(workspace);
  const std::string marker = "60." + std::to_string(::getpid());
  client.send({{"jsonrpc", "2.0"},
               {"id", "slow"},
               {"method", "tools/call"},
               {"params", {{"name", "bash"}, {"arguments", {{"command", "sleep " + marker}}}}}});
  for (int round = 0; round < 500 && coop::tests::processes_with(marker).empty(); ++round)
    ::usleep(10000);
  EXPECT_FALSE(coop::tests::processes_with(marker).empty());
  client.send({{"jsonrpc", "2.0"},
               {"method", "notifications/cancelled"},
               {"params", {{"requestId", "slow"}}}});
  EXPECT_TRUE(coop::tests::all_gone(marker));
  client.stop();
  EXPECT_TRUE(client.last().is_null()) << client.last();
}

KERNEL_TEST(McpServer, TheStatelessRevisionNeedsNoGreeting) {
  const Workspace workspace;
  Client client(workspace);
  const Json found = client.ask("server/discover", stateless())["result"];
  EXPECT_EQ(found["supportedVersions"], Json::array({"2026-07-28"}));
  EXPECT_EQ(found["resultType"], "complete");
  const Json tools = client.ask("tools/list", stateless())["result"];
  EXPECT_EQ(tools["tools"].size(), tool_table().size());
  EXPECT_EQ(tools["ttlMs"], 0);
  EXPECT_EQ(tools["cacheScope"], "private");
  const Json called = client.ask(
      "tools/call", stateless({{"name", "bash"}, {"arguments", {{"command", "echo hello"}}}}));
  EXPECT_EQ(called["result"]["content"][0]["text"], "hello\n");
  EXPECT_EQ(called["result"]["resultType"], "complete");
}

KERNEL_TEST(McpServer, EachEraHasItsOwnMethodsAndVersions) {
  const Workspace workspace;
  Client client(workspace);
  const Json unknown = client.ask("tools/list", stateless(Json::object(), "2099-01-01"));
  EXPECT_EQ(unknown["error"]["code"], -32022);
  EXPECT_EQ(unknown["error"]["data"]["supported"], Json::array({"2026-07-28"}));
  EXPECT_EQ(unknown["error"]["data"]["requested"], "2099-01-01");
  Json without = stateless();
  without["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(client.ask("tools/list", without)["error"]["code"], -32602);
  EXPECT_EQ(client.ask("initialize", stateless())["error"]["code"], -32601);
  EXPECT_EQ(client.ask("ping", stateless())["error"]["code"], -32601);
  EXPECT_EQ(client.ask("logging/setLevel", stateless({{"level", "info"}}))["error"]["code"],
            -32601);
  EXPECT_EQ(client.ask("server/discover", stateless())["result"]["capabilities"],
            (Json{{"tools", Json::object()}, {"resources", Json::object()}}));
  EXPECT_EQ(client.ask("server/discover")["error"]["code"], -32601);
  // initialize never answers with a revision that has no initialize.
  EXPECT_EQ(
      client.ask("initialize", {{"protocolVersion", "2026-07-28"}})["result"]["protocolVersion"],
      "2025-11-25");
}

KERNEL_TEST(McpServer, ACallCancelledBeforeItsTurnIsNotMade) {
  const Workspace workspace;
  Client client(workspace);
  const auto call = [](const Json& id, const std::string& name, const Json& arguments) {
    return Json{{"jsonrpc", "2.0"},
                {"id", id},
                {"method", "tools/call"},
                {"params", {{"name", name}, {"arguments", arguments}}}};
  };
  for (int number = 0; number < 64; ++number)
    client.send(call("busy" + std::to_string(number), "bash", {{"command", "sleep 2"}}));
  client.send(call("late", "write_file", {{"path", "written"}, {"content", "x"}}));
  client.send({{"jsonrpc", "2.0"},
               {"method", "notifications/cancelled"},
               {"params", {{"requestId", "late"}}}});
  EXPECT_EQ(client.ask("ping")["result"], Json::object());  // running calls do not block it
  for (int number = 0; number < 64; ++number) client.answer_to("busy" + std::to_string(number));
  client.stop();
  EXPECT_FALSE(coop::tests::exists(workspace / "written"));
}

KERNEL_TEST(McpServer, AnIdMayNotBeUsedTwiceAtOnce) {
  const Workspace workspace;
  Client client(workspace);
  const Json call{{"jsonrpc", "2.0"},
                  {"id", 7},
                  {"method", "tools/call"},
                  {"params", {{"name", "bash"}, {"arguments", {{"command", "sleep 0.5"}}}}}};
  client.send(call);
  client.send(call);
  EXPECT_EQ(client.last()["error"]["code"], -32600);
}

KERNEL_TEST(McpServer, WhatIsNoMessageGetsTheProtocolsError) {
  const Workspace workspace;
  Client client(workspace);
  const std::vector<std::pair<std::string, int>> cases{
      {"{", -32700},
      {"[]x", -32700},
      {"5", -32600},
      {"{\"id\":1,\"method\":\"ping\"}", -32600},
      {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", -32600},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", -32601},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", -32602},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":7}}",
       -32602},
  };
  for (const auto& [text, code] : cases) {
    client.send_text(text);
    EXPECT_EQ(client.last()["error"]["code"], code) << text << client.last();
  }
  client.send_text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");  // no answer
  EXPECT_EQ(client.ask("ping")["result"], Json::object());
}

KERNEL_TEST(McpServer, DeeplyNestedMessagesAreRefused) {
  const Workspace workspace;
  Client client(workspace);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const std::string& text :
       {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + deep + "}}",
        R"({"jsonrpc":"2.0","method":"ping","id":)" + deep + "}", deep}) {
    client.send_text(text);
    EXPECT_EQ(client.last()["error"]["code"], -32700);
  }
  EXPECT_EQ(client.ask("ping")["result"], Json::object());
}

KERNEL_TEST(McpServer, AClientThatReadsNothingHoldsUpNoTimeoutAndNoEnd) {
  const Workspace workspace;
  tools::LiveTools tools(Toolbox::open({.policy = Policy{.workspace = workspace.path()}}).value());
  Server server(tools, "0.1.0");
  ::signal(SIGPIPE, SIG_IGN);  // as coop mcp does
  int requests[2];
  int answers[2];
  ASSERT_EQ(::pipe2(requests, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(answers, O_CLOEXEC), 0);  // never read
  const std::string marker = "64." + std::to_string(::getpid());
  const std::string call =
      Json{{"jsonrpc", "2.0"},
           {"id", 1},
           {"method", "tools/call"},
           {"params",
            {{"name", "bash"},
             {"arguments", {{"command", "(sleep " + marker + " &); yes"}, {"timeout", 1}}},
             {"_meta", {{"progressToken", 1}}}}}}
          .dump() +
      "\n";
  ASSERT_EQ(::write(requests[1], call.data(), call.size()), static_cast<ssize_t>(call.size()));
  std::jthread serving([&] { EXPECT_TRUE(serve_stdio(server, requests[0], answers[1])); });
  for (int round = 0; round < 500 && coop::tests::processes_with(marker).empty(); ++round)
    ::usleep(10000);
  EXPECT_FALSE(coop::tests::processes_with(marker).empty());
  EXPECT_TRUE(coop::tests::all_gone(marker));  // killed at the timeout
  ::close(requests[1]);
  serving.join();  // and the end of its input ends it
  for (const int fd : {requests[0], answers[0], answers[1]}) ::close(fd);
}

KERNEL_TEST(McpServer, AMessageThatIsTooLongIsAnsweredAndTheNextServed) {
  const Workspace workspace;
  tools::LiveTools tools(
      std::move(Toolbox::open({.policy = Policy{.workspace = workspace.path()}}).value()));
  Server server(tools, "0.1.0");
  int requests[2];
  int answers[2];
  ASSERT_EQ(::pipe2(requests, O_CLOEXEC) | ::pipe2(answers, O_CLOEXEC), 0);
  std::jthread serving([&] { EXPECT_TRUE(serve_stdio(server, requests[0], answers[1])); });
  const std::string text = R"({"jsonrpc":"2.0","method":"ping","params":{"x":")" +
                           std::string(kLargestMessage, 'x') + "\"},\"id\":\"big\"}\n" +
                           R"({"jsonrpc":"2.0","id":2,"method":"ping"})" + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(requests[1], text.data() + sent, text.size() - sent);
    ASSERT_GT(count, 0);
    sent += static_cast<std::size_t>(count);
  }
  std::string said;
  char buffer[4096];
  while (std::ranges::count(said, '\n') < 2) {
    const ssize_t count = ::read(answers[0], buffer, sizeof buffer);
    ASSERT_GT(count, 0);
    said.append(buffer, static_cast<std::size_t>(count));
  }
  const Json refused = Json::parse(said.substr(0, said.find('\n')));
  EXPECT_EQ(refused["id"], "big");
  EXPECT_EQ(refused["error"]["code"], -32600);
  EXPECT_EQ(Json::parse(said.substr(said.find('\n') + 1))["id"], 2);
  ::close(requests[1]);
  serving.join();
  for (const int fd : {requests[0], answers[0], answers[1]}) ::close(fd);
}

KERNEL_TEST(McpServer, FilesOfTheWorkspaceAreResources) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "a b.txt", "hello\n");
  Client client(workspace);
  const Json list = client.ask("resources/list")["result"]["resources"];
  std::string uri;
  for (const Json& resource : list)
    if (resource["name"] == "a b.txt") uri = resource["uri"];
  EXPECT_EQ(uri, "file:///work/a%20b.txt");
  EXPECT_EQ(client.ask("resources/read", {{"uri", uri}})["result"]["contents"][0]["text"],
            "hello\n");
  EXPECT_TRUE(client.ask("resources/read", {{"uri", "file:///etc/shadow"}}).contains("error"));
}

}  // namespace
}  // namespace coop::mcp
