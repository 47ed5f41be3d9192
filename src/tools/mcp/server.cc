#include "tools/mcp/server.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/path.h"
#include "sys/fd.h"
#include "tools/mcp/resources.h"

namespace coop::tools::mcp {

namespace {

// Newest first; a client that asks for another gets the newest.
constexpr std::array<std::string_view, 4> kVersions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                    "2024-11-05"};
constexpr std::size_t kMostCalls = 64;
constexpr std::size_t kLargestMessage = 64 << 20;

// Codes of JSON-RPC 2.0.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;

Json failure(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Json success(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json tool_json(const ToolInfo& tool) {
  return {{"name", tool.name},
          {"description", tool.description},
          {"inputSchema", Json::parse(tool.schema)},
          {"annotations",
           {{"readOnlyHint", tool.reads_only}, {"openWorldHint", tool.name == "fetch_url"}}}};
}

Json call_result(const ToolOutput& output) {
  return {{"content", Json::array({{{"type", "text"}, {"text", output.text}}})},
          {"structuredContent", output.structured},
          {"isError", output.failed}};
}

// Live output as progress: the number only grows, the message is what has just come.
class Progress {
 public:
  Progress(Json token, const Send& send) : token_(std::move(token)), send_(send) {}

  void report(std::string_view piece) {
    bytes_ += piece.size();
    send_({{"jsonrpc", "2.0"},
           {"method", "notifications/progress"},
           {"params", {{"progressToken", token_}, {"progress", bytes_}, {"message", piece}}}});
  }

 private:
  Json token_;
  const Send& send_;
  std::size_t bytes_ = 0;
};

}  // namespace

struct Server::State {
  Session& session;
  Path workspace;
  std::string version;
  std::mutex mutex{};
  std::condition_variable idle{};
  std::map<std::string, std::shared_ptr<UniqueFd>> running{};  // by the request's id, as JSON text
  std::size_t threads = 0;

  State(Session& tools, Path place, std::string name)
      : session(tools), workspace(std::move(place)), version(std::move(name)) {}

  Json initialize(const Json& params) const {
    const Json version_asked = params.value("protocolVersion", Json());
    const std::string asked = version_asked.is_string() ? version_asked.get<std::string>() : "";
    const bool known = std::ranges::find(kVersions, asked) != kVersions.end();
    return {{"protocolVersion", known ? asked : std::string(kVersions.front())},
            {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
            {"serverInfo", {{"name", "coop"}, {"title", "coop sandbox"}, {"version", version}}},
            {"instructions",
             std::string("Tools work in the workspace. ") +
                 (session.sandboxed() ? "Commands run in a sandbox: no network, nothing outside "
                                        "the workspace can be changed."
                                      : "Commands run on the host itself, without a sandbox.")}};
  }

  Json list_tools() const {
    Json tools = Json::array();
    for (const ToolInfo* tool : session.tools()) tools.push_back(tool_json(*tool));
    return {{"tools", tools}};
  }

  void call(const Json& id, const Json& params, const Send& send,
            const std::shared_ptr<UniqueFd>& cancel) {
    Json token;
    if (const auto meta = params.find("_meta"); meta != params.end() && meta->is_object())
      token = meta->value("progressToken", Json());
    Progress progress(token, send);
    CallHooks hooks{.cancel_fd = cancel->get()};
    if (!token.is_null()) hooks.progress = [&](std::string_view piece) { progress.report(piece); };
    const Json arguments = params.value("arguments", Json::object());
    const ToolOutput output = session.call(params.at("name").get<std::string>(), arguments, hooks);
    bool cancelled = false;
    {
      const std::lock_guard lock(mutex);
      cancelled = !running.contains(id.dump());
      running.erase(id.dump());
    }
    if (!cancelled) send(success(id, call_result(output)));
  }

  void start_call(const Json& id, const Json& params, const Send& send) {
    if (!params.contains("name") || !params.at("name").is_string())
      return send(failure(id, kInvalidParams, "tools/call needs the name of a tool"));
    const std::string& name = params.at("name").get_ref<const std::string&>();
    const std::span<const ToolInfo> table = tool_table();
    if (std::ranges::find(table, name, &ToolInfo::name) == table.end())
      return send(failure(id, kInvalidParams, "there is no tool \"" + printable(name) + "\""));
    auto cancel = std::make_shared<UniqueFd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    {
      std::unique_lock lock(mutex);
      if (running.contains(id.dump()))
        return send(failure(id, kInvalidRequest, "this id is in use"));
      idle.wait(lock, [&] { return threads < kMostCalls; });
      running[id.dump()] = cancel;
      ++threads;
    }
    std::thread([this, id, params, send, cancel] {
      call(id, params, send, cancel);
      const std::lock_guard lock(mutex);
      --threads;
      idle.notify_all();
    }).detach();
  }

  void cancel(const Json& params) {
    const std::lock_guard lock(mutex);
    const auto found = running.find(params.value("requestId", Json()).dump());
    if (found == running.end()) return;
    ::eventfd_write(found->second->get(), 1);
    running.erase(found);  // its answer is not wanted any more
  }

  void cancel_all() {
    const std::lock_guard lock(mutex);
    for (const auto& [id, event] : running) ::eventfd_write(event->get(), 1);
    running.clear();
  }

  void wait() {
    std::unique_lock lock(mutex);
    idle.wait(lock, [&] { return threads == 0; });
  }

  void request(const std::string& method, const Json& id, const Json& params, const Send& send) {
    if (method == "initialize") return send(success(id, initialize(params)));
    if (method == "ping") return send(success(id, Json::object()));
    if (method == "tools/list") return send(success(id, list_tools()));
    if (method == "tools/call") return start_call(id, params, send);
    const bool may_read = policy::may_use(session.trust(), "read_file");
    if (method == "resources/list")
      return send(
          success(id, may_read ? list_resources(session) : Json{{"resources", Json::array()}}));
    if (method == "resources/templates/list")
      return send(success(id, {{"resourceTemplates", Json::array()}}));
    if (method == "resources/read") {
      const Json uri = params.value("uri", Json());
      if (!uri.is_string()) return send(failure(id, kInvalidParams, "resources/read needs a uri"));
      const Result<Json> contents = read_resource(session, uri.get<std::string>());
      return send(contents ? success(id, *contents)
                           : failure(id, kInvalidParams, to_text(contents.error())));
    }
    send(failure(id, kMethodNotFound, "there is no method \"" + printable(method) + "\""));
  }

  void message(const Json& message, const Send& send) {
    const Json id = message.is_object() ? message.value("id", Json()) : Json();
    const bool good_id = id.is_string() || id.is_number_integer();
    if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" ||
        (!id.is_null() && !good_id))
      return send(failure(nullptr, kInvalidRequest, "this is not a JSON-RPC 2.0 message"));
    if (!message.contains("method")) return;  // an answer: we never ask
    const Json method = message.at("method");
    const Json params = message.value("params", Json::object());
    if (!method.is_string() || !params.is_object())
      return send(failure(id, kInvalidRequest, "method and params are not as they should be"));
    if (!good_id) {
      if (method == "notifications/cancelled") cancel(params);
      return;  // a notification has no answer
    }
    request(method.get<std::string>(), id, params, send);
  }
};

Server::Server(Session& session, Path workspace, std::string version)
    : state_(std::make_unique<State>(session, std::move(workspace), std::move(version))) {}

Server::~Server() { stop(); }

void Server::stop() {
  state_->cancel_all();
  state_->wait();
}

void Server::receive(std::string_view text, const Send& send) {
  if (text.size() > kLargestMessage)
    return send(failure(nullptr, kInvalidRequest, "the message is larger than 64 MiB"));
  const Json message = Json::parse(text, nullptr, false);
  if (message.is_discarded()) return send(failure(nullptr, kParseError, "this is not JSON"));
  if (!message.is_array()) return state_->message(message, send);
  // Batches: of the older protocol versions only, answered one by one.
  for (const Json& one : message) state_->message(one, send);
}

}  // namespace coop::tools::mcp
