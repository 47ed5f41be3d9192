#include "mcp/server.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/path.h"
#include "mcp/calls.h"
#include "mcp/protocol.h"
#include "sys/fd.h"

namespace coop::mcp {

namespace {

constexpr const char* kWholeKey = "coop/whole";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";

// An object in an object; an empty one when it is not there.
Json member(const Json& value, const char* name) {
  const auto found = value.find(name);
  return found != value.end() && found->is_object() ? *found : Json::object();
}

Form form_by(const Json& client_info) {
  const Json name = client_info.value("name", Json());
  return name.is_string() ? form_of(name.get<std::string>()) : Form::both;
}

// For programs: all that was kept of the output.
Length length_of(const Json& params) {
  const Json whole = member(params, "_meta").value(kWholeKey, Json());
  return whole.is_boolean() && whole.get<bool>() ? Length::whole : Length::shown;
}

Json progress_token(const Json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return {};
  Json token = meta->value("progressToken", Json());
  return token.is_string() || token.is_number_integer() ? token : Json();
}

// One request, and where its answer goes.
struct Asked {
  std::string method{};
  Json id{};
  Json params{};
  Era era = Era::greeting;
  std::string client{};
  Send send{};
  std::shared_ptr<Offer> offer{};  // the one that holds when it is asked
  Form form = Form::both;
};

std::string names_of(const Offer& offer) {
  std::string names;
  for (const Json& tool : offer.tools(Form::text_only)) names += tool.at("name").dump() + " ";
  return names;
}

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

enum class Cacheable : std::uint8_t { no, yes };

void fail(const Asked& asked, int code, const std::string& message, Json data = {}) {
  asked.send(failure(asked.id, code, message, std::move(data)));
}

}  // namespace

struct Server::State {
  // What a client has been told.
  struct Told {
    std::uint64_t revision = 0;
    std::string names{};
  };

  LookForOffer look;
  std::string version;
  std::mutex telling{};
  std::map<std::string, Told> told{};
  std::map<std::string, Form> forms{};  // by client; set by initialize, under the same lock
  Calls calls{};

  State(LookForOffer looking, std::string name)
      : look(std::move(looking)), version(std::move(name)) {}

  // Notify each client once per change, and not of changes made before it connected.
  void tell(const CurrentOffer& now, const std::string& client, const Send& send) {
    const std::string names = names_of(*now.offer);
    const std::lock_guard lock(telling);
    const auto [known, added] = told.try_emplace(client, Told{now.revision, names});
    if (added || known->second.revision == now.revision) return;
    send(notification(
        "notifications/message",
        {{"level", now.broken ? "error" : "notice"}, {"logger", "coop"}, {"data", now.news}}));
    if (known->second.names != names)
      send(notification("notifications/tools/list_changed", Json::object()));
    known->second = {now.revision, names};
  }

  // From initialize on a session has one form; without a session every request names its client.
  Form form_for(const Asked& asked) {
    if (asked.era == Era::stateless)
      return form_by(member(member(asked.params, "_meta"), kClientKey));
    const std::lock_guard lock(telling);
    if (asked.method == "initialize")
      forms[asked.client] = form_by(member(asked.params, "clientInfo"));
    const auto found = forms.find(asked.client);
    return found == forms.end() ? Form::both : found->second;
  }

  Json server_info() const {
    return {{"name", "coop"}, {"title", "coop sandbox"}, {"version", version}};
  }

  // Without a session there is no stream for what is not an answer: no news of tools, no log.
  static Json capabilities(Era era) {
    if (era == Era::stateless) return {{"tools", Json::object()}, {"resources", Json::object()}};
    return {{"tools", {{"listChanged", true}}},
            {"resources", Json::object()},
            {"logging", Json::object()}};
  }

  // Adds the fields that the stateless revisions require in a result.
  void succeed(const Asked& asked, Json result, Cacheable cacheable = Cacheable::no) const {
    if (asked.era == Era::stateless) {
      result["resultType"] = "complete";
      result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
      if (cacheable == Cacheable::yes) {
        result["ttlMs"] = 0;
        result["cacheScope"] = "private";
      }
    }
    asked.send(success(asked.id, std::move(result)));
  }

  void initialize(const Asked& asked) const {
    const Json wanted = asked.params.value("protocolVersion", Json());
    const std::string text = wanted.is_string() ? wanted.get<std::string>() : "";
    const std::span<const std::string_view> versions = greeting_versions();
    // A client that asks for an unknown revision gets the newest, and may disconnect.
    const bool known = std::ranges::find(versions, text) != versions.end();
    succeed(asked, {{"protocolVersion", known ? text : std::string(versions.front())},
                    {"capabilities", capabilities(asked.era)},
                    {"serverInfo", server_info()},
                    {"instructions", asked.offer->instructions()}});
  }

  void discover(const Asked& asked) const {
    Json versions = Json::array();
    for (const std::string_view known : stateless_versions()) versions.push_back(known);
    succeed(asked,
            {{"supportedVersions", versions},
             {"capabilities", capabilities(asked.era)},
             {"instructions", asked.offer->instructions()}},
            Cacheable::yes);
  }

  void list_tools(const Asked& asked) const {
    succeed(asked, {{"tools", asked.offer->tools(asked.form)}}, Cacheable::yes);
  }

  void call(const Asked& asked, const Calls::Turn& turn) {
    if (is_ready(turn.cancel_fd())) return asked.send(nullptr);  // before its turn came
    Call call{.name = asked.params.at("name").get<std::string>(),
              .arguments = asked.params.value("arguments", Json::object()),
              .hooks = {.cancel_fd = turn.cancel_fd()},
              .form = asked.form,
              .length = length_of(asked.params)};
    const Json token = progress_token(asked.params);
    std::size_t bytes = 0;
    // Live output: the counter grows, the message is what is new.
    const auto report = [&](std::string_view piece) {
      bytes += piece.size();
      asked.send(notification("notifications/progress",
                              {{"progressToken", token}, {"progress", bytes}, {"message", piece}}));
    };
    if (!token.is_null()) call.hooks.progress = report;
    call.notify = [&](std::string_view method, Json params) {
      if (asked.era == Era::greeting) asked.send(notification(method, std::move(params)));
    };
    Json result = asked.offer->call(call);
    if (turn.finish()) succeed(asked, std::move(result));
    else asked.send(nullptr);
  }

  void start_call(const Asked& asked) {
    const Json name = asked.params.value("name", Json());
    if (!name.is_string())
      return fail(asked, kInvalidParams, "tools/call needs the name of a tool");
    if (!asked.offer->has_tool(name.get<std::string>()))
      return fail(asked, kInvalidParams,
                  "there is no tool \"" + printable(name.get<std::string>()) + "\"");
    const Result<void> started =
        calls.start({asked.client, asked.id.dump()},
                    [this, asked](const Calls::Turn& turn) { call(asked, turn); });
    if (!started) fail(asked, kInvalidRequest, to_text(started.error()));
  }

  void read(const Asked& asked) {
    const Json uri = asked.params.value("uri", Json());
    if (!uri.is_string()) return fail(asked, kInvalidParams, "resources/read needs a uri");
    Result<Json> contents = asked.offer->read(uri.get<std::string>());
    if (contents) return succeed(asked, std::move(*contents), Cacheable::yes);
    fail(asked, kInvalidParams, to_text(contents.error()), {{"uri", uri}});
  }

  // Methods that exist in one era only.
  bool of_the_era(const Asked& asked) const {
    if (asked.method == "initialize" || asked.method == "ping" ||
        asked.method == "logging/setLevel")
      return asked.era == Era::greeting;
    if (asked.method == "server/discover") return asked.era == Era::stateless;
    return true;
  }

  void request(const Asked& asked) {
    if (asked.era == Era::stateless) {
      const std::string wanted = version_of(asked.params);
      const std::span<const std::string_view> versions = stateless_versions();
      if (std::ranges::find(versions, wanted) == versions.end())
        return fail(asked, kUnsupportedVersion, "this revision of the protocol is not spoken here",
                    unsupported_data(wanted, Era::stateless));
      if (!has_capabilities(asked.params)) return fail(asked, kInvalidParams, kNoCapabilities);
    }
    if (!of_the_era(asked))
      return fail(asked, kMethodNotFound,
                  "there is no method \"" + printable(asked.method) + "\" in this revision");
    if (asked.method == "initialize") return initialize(asked);
    if (asked.method == "ping") return succeed(asked, Json::object());
    // Changes are few, and each of them matters: there is nothing to filter.
    if (asked.method == "logging/setLevel") return succeed(asked, Json::object());
    if (asked.method == "server/discover") return discover(asked);
    if (asked.method == "tools/list") return list_tools(asked);
    if (asked.method == "tools/call") return start_call(asked);
    if (asked.method == "resources/list")
      return succeed(asked, asked.offer->resources(), Cacheable::yes);
    if (asked.method == "resources/templates/list")
      return succeed(asked, asked.offer->templates(), Cacheable::yes);
    if (asked.method == "resources/read") return read(asked);
    fail(asked, kMethodNotFound, "there is no method \"" + printable(asked.method) + "\"");
  }

  void message(const Json& message, const Send& send, const std::string& client) {
    const Json id = message.is_object() ? message.value("id", Json()) : Json();
    const bool good_id = is_id(id);
    if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" ||
        (!id.is_null() && !good_id))
      return send(failure(nullptr, kInvalidRequest, "this is not a JSON-RPC 2.0 message"));
    if (!message.contains("method")) return;  // an answer: we send no requests
    const Json& method = message.at("method");
    const Json params = message.value("params", Json::object());
    if (!method.is_string() || !params.is_object())
      return send(failure(id, kInvalidRequest, "method and params are not as they should be"));
    if (!good_id) {
      if (method == "notifications/cancelled")
        calls.cancel({client, params.value("requestId", Json()).dump()});
      return;  // a notification has no answer
    }
    Asked asked{.method = method.get<std::string>(),
                .id = id,
                .params = params,
                .era = era_of(params),
                .client = client,
                .send = send};
    const CurrentOffer now = look();
    asked.offer = now.offer;
    asked.form = form_for(asked);
    // Calls alone: other answers over HTTP are one JSON object, without room for a notification.
    const bool tells = asked.method == "initialize" || asked.method == "tools/call";
    if (asked.era == Era::greeting && tells) tell(now, client, send);
    request(asked);
  }
};

Server::Server(tools::LiveTools& tools, std::string version)
    : Server(offer_of(tools), std::move(version)) {}
Server::Server(LookForOffer look, std::string version)
    : state_(std::make_unique<State>(std::move(look), std::move(version))) {}

Server::~Server() { stop(); }

void Server::stop() { state_->calls.stop(); }
void Server::forget(const std::string& client) {
  state_->calls.cancel_all_of(client);
  const std::lock_guard lock(state_->telling);
  state_->told.erase(client);
  state_->forms.erase(client);
}

void Server::look_around(const Send& send, const std::string& client) {
  {
    const std::lock_guard lock(state_->telling);
    if (!state_->told.contains(client)) return;
  }
  state_->tell(state_->look(), client, send);
}

void Server::receive_text(std::string_view text, const Send& send, const std::string& client) {
  if (text.size() > kLargestMessage)
    return send(failure(nullptr, kInvalidRequest, "the message is larger than 64 MiB"));
  const Json message = parse_json(text);
  if (message.is_discarded()) return send(failure(nullptr, kParseError, "this is not JSON"));
  receive(message, send, client);
}

void Server::receive(const Json& message, const Send& send, const std::string& client) {
  if (!message.is_array()) return state_->message(message, send, client);
  if (message.empty()) return send(failure(nullptr, kInvalidRequest, "a batch with nothing in it"));
  // Batches: older revisions only, answered one by one.
  for (const Json& one : message) state_->message(one, send, client);
}

}  // namespace coop::mcp
