#include "mcp/http/http.h"

#include <sys/socket.h>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <deque>
#include <list>
#include <optional>
#include <utility>

#include "mcp/http/mailbox.h"
#include "mcp/http/rules.h"
#include "mcp/protocol.h"

namespace coop::mcp {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using std::chrono::seconds;

constexpr std::uint32_t kMostHead = 16 << 10;
constexpr std::size_t kMostConnections = 256;
constexpr std::size_t kMostStrangers = 64;  // connections that have not sent the token yet
constexpr seconds kFirstHead{10};           // time for sending it
constexpr std::size_t kMostSessions = 1024;
constexpr seconds kIdle{120};      // between two requests of one connection
constexpr seconds kTransfer{60};   // for one body, or one write
constexpr seconds kHeartbeat{15};  // so that no proxy or client times out during a long command

// Errors are values: nothing here throws when a connection breaks.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

HttpHead head_of(const Request& request) {
  const auto field = [&](std::string_view name) { return std::string(request[name]); };
  return {.method = std::string(request.method_string()),
          .target = std::string(request.target()),
          .host = field("Host"),
          .origin = field("Origin"),
          .has_origin = request.count("Origin") > 0,
          .repeated = request.count("Host") > 1 || request.count("Origin") > 1 ||
                      request.count("Authorization") > 1,
          .authorization = field("Authorization"),
          .content_type = field("Content-Type"),
          .accept = field("Accept"),
          .session = field("Mcp-Session-Id"),
          .version = field("MCP-Protocol-Version"),
          .mcp_method = field("Mcp-Method"),
          .mcp_name = field("Mcp-Name")};
}

// The status of the stateless revisions for an answer that refuses the whole request.
http::status status_of(const Json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return http::status::ok;
  const int code = error->value("code", 0);
  if (code == kMethodNotFound) return http::status::not_found;
  const bool whole = code == kUnsupportedVersion || code == kParseError || code == kInvalidRequest;
  return whole ? http::status::bad_request : http::status::ok;
}

Response plain_response(const Request& request, http::status status, std::string body) {
  Response response(status, request.version());
  response.keep_alive(request.keep_alive());
  if (!body.empty()) response.set(http::field::content_type, "application/json");
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

Response refused(const Request& request, const HttpRefusal& refusal, const Json& id = nullptr) {
  Response response =
      plain_response(request, static_cast<http::status>(refusal.status),
                     text_of(failure(id, refusal.code, refusal.reason, refusal.data)));
  if (request.method() == http::verb::head) response.body().clear();
  if (refusal.status == 401) response.set(http::field::www_authenticate, "Bearer");
  if (refusal.status == 405) response.set(http::field::allow, "POST, DELETE");
  response.keep_alive(false);  // the rest of the body is not read
  return response;
}

}  // namespace

struct HttpServer::State {
  Server& server;
  HttpOptions options;
  std::size_t connections = 0;
  std::list<beast::tcp_stream*> strangers{};  // oldest first, as are the sessions
  std::deque<std::string> sessions{};
  std::uint64_t exchanges = 0;
  asio::io_context loop{1};  // declared after what its connections use: they end with it
  tcp::acceptor acceptor{loop};
  asio::signal_set signals{loop};

  State(Server& messages, HttpOptions chosen) : server(messages), options(std::move(chosen)) {}

  bool knows(const std::string& session) const {
    return std::ranges::find(sessions, session) != sessions.end();
  }

  Result<std::string> new_session() {
    std::string id = TRY(make_token());
    sessions.push_back(id);
    if (sessions.size() > kMostSessions) {
      server.forget(sessions.front());
      sessions.pop_front();
    }
    return id;
  }

  // The decision about a request. Made outside of the coroutines: GCC 12 sometimes destroys
  // temporaries in a co_await twice (bug 99576 and others), so those use named objects only.
  struct Decision {
    std::optional<Response> response{};  // an immediate answer, without the server
    Json message{};
    std::string client{};
    std::string greeted{};  // the session created by this request
  };
  Decision decide_early(const Request& request, const HttpHead& head) const;
  Decision decide(const Request& request, const HttpHead& head);
  static Decision too_large(const Request& request);

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(beast::tcp_stream stream);
  asio::awaitable<bool> exchange(beast::tcp_stream& stream, const Request& request,
                                 const HttpHead& head, const Decision& decision);
  asio::awaitable<bool> answer_at_once(beast::tcp_stream& stream, const Request& request,
                                       std::shared_ptr<Mailbox> mailbox, const Decision& decision);
  static Response response_of(const Request& request, const Decision& decision,
                              const Json& answers);
  asio::awaitable<bool> answer_in_events(beast::tcp_stream& stream, const Request& request,
                                         std::shared_ptr<Mailbox> mailbox,
                                         const std::string& greeted);
  Response end_session(const Request& request, const HttpHead& head);
};

namespace {

class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::size_t& count_;
};

// In the list until it has sent the token.
class Stranger {
 public:
  Stranger(std::list<beast::tcp_stream*>& list, beast::tcp_stream& stream)
      : list_(list), place_(list.insert(list.end(), &stream)), is_one_(true) {}
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { no_more(); }

  bool is_one() const { return is_one_; }
  void no_more() {
    if (std::exchange(is_one_, false)) list_.erase(place_);
  }

 private:
  std::list<beast::tcp_stream*>& list_;
  std::list<beast::tcp_stream*>::iterator place_;
  bool is_one_;
};

asio::awaitable<bool> send_response(beast::tcp_stream& stream, Response& response) {
  stream.expires_after(kTransfer);
  const auto [error, size] = co_await http::async_write(stream, response, kAwait);
  co_return !error && response.keep_alive();
}

// In the stateless revisions a client cancels by closing the connection.
void watch_for_hang_up(beast::tcp_stream& stream, const std::shared_ptr<Mailbox>& mailbox) {
  const int fd = stream.socket().native_handle();
  stream.socket().async_wait(tcp::socket::wait_read,
                             [mailbox, fd](const boost::system::error_code& error) {
                               if (error) return;
                               char byte = 0;
                               const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
                               if (got > 0 || (got < 0 && errno == EAGAIN)) return;
                               mailbox->gone = true;
                               mailbox->bell.cancel();
                             });
}

}  // namespace

asio::awaitable<bool> HttpServer::State::answer_at_once(beast::tcp_stream& stream,
                                                        const Request& request,
                                                        std::shared_ptr<Mailbox> mailbox,
                                                        const Decision& decision) {
  Json answers = Json::array();
  std::size_t answered = 0;
  while (!mailbox->gone) {
    answered += mailbox->take_answers(answers);
    if (answered >= mailbox->unanswered) break;
    mailbox->bell.expires_after(kHeartbeat);
    [[maybe_unused]] const auto rung = co_await mailbox->bell.async_wait(kAwait);
  }
  if (mailbox->gone) co_return false;
  Response response = response_of(request, decision, answers);
  co_return co_await send_response(stream, response);
}

asio::awaitable<bool> HttpServer::State::answer_in_events(beast::tcp_stream& stream,
                                                          const Request& request,
                                                          std::shared_ptr<Mailbox> mailbox,
                                                          const std::string& greeted) {
  http::response<http::empty_body> head(http::status::ok, request.version());
  head.set(http::field::content_type, "text/event-stream");
  head.set(http::field::cache_control, "no-store");
  if (!greeted.empty()) head.set("Mcp-Session-Id", greeted);
  head.keep_alive(request.keep_alive());
  head.chunked(true);
  http::response_serializer<http::empty_body> serializer(head);
  stream.expires_after(kTransfer);
  const auto [failed, written] = co_await http::async_write_header(stream, serializer, kAwait);
  if (failed) co_return false;
  std::size_t answered = 0;
  while (answered < mailbox->unanswered && !mailbox->gone) {
    std::string events = mailbox->take_events(answered);
    if (events.empty() && answered < mailbox->unanswered) {
      mailbox->bell.expires_after(kHeartbeat);
      const auto [cancelled] = co_await mailbox->bell.async_wait(kAwait);
      if (cancelled) continue;  // something has come
      events = ": still running\n\n";
    }
    if (events.empty()) break;
    stream.expires_after(kTransfer);
    const auto [error, size] =
        co_await asio::async_write(stream, http::make_chunk(asio::buffer(events)), kAwait);
    if (error) co_return false;
  }
  if (mailbox->gone) co_return false;
  stream.expires_after(kTransfer);
  const auto [error, size] = co_await asio::async_write(stream, http::make_chunk_last(), kAwait);
  co_return !error && request.keep_alive();
}

asio::awaitable<bool> HttpServer::State::exchange(beast::tcp_stream& stream, const Request& request,
                                                  const HttpHead& head, const Decision& decision) {
  const Json& message = decision.message;
  const auto mailbox = std::make_shared<Mailbox>(loop.get_executor());
  mailbox->unanswered = std::max<std::size_t>(requests_in(message), 1);
  const Send send = [mailbox](const Json& answer) { mailbox->send(answer); };
  server.receive(message, send, decision.client);
  const bool stateless = is_stateless(message);
  if (stateless) watch_for_hang_up(stream, mailbox);
  const bool events = accepts(head.accept, "text/event-stream") &&
                      (calls_a_tool(message) || !accepts(head.accept, "application/json"));
  bool keep = false;
  if (events) keep = co_await answer_in_events(stream, request, mailbox, decision.greeted);
  else keep = co_await answer_at_once(stream, request, mailbox, decision);
  boost::system::error_code ignored;
  if (stateless) stream.socket().cancel(ignored);
  if (stateless && mailbox->gone) server.forget(decision.client);
  co_return keep;
}

HttpServer::State::Decision HttpServer::State::decide_early(const Request& request,
                                                            const HttpHead& head) const {
  const auto refusal = refuse_head(head, options.port, options.token);
  if (!refusal) return {};
  return {.response = refused(request, *refusal)};
}

HttpServer::State::Decision HttpServer::State::too_large(const Request& request) {
  return {.response = refused(request, {413, "the message is larger than 64 MiB"})};
}

Response HttpServer::State::response_of(const Request& request, const Decision& decision,
                                        const Json& answers) {
  if (answers.empty()) return plain_response(request, http::status::accepted, "");  // cancelled
  const http::status status =
      is_stateless(decision.message) ? status_of(answers.front()) : http::status::ok;
  Response response = plain_response(
      request, status, text_of(decision.message.is_array() ? answers : answers.front()));
  if (!decision.greeted.empty()) response.set("Mcp-Session-Id", decision.greeted);
  return response;
}

Response HttpServer::State::end_session(const Request& request, const HttpHead& head) {
  const auto found = std::ranges::find(sessions, head.session);
  if (found == sessions.end()) return refused(request, {404, "there is no such session"});
  server.forget(*found);
  sessions.erase(found);
  return plain_response(request, http::status::no_content, "");
}

// Decides about a request with complete head and body.
HttpServer::State::Decision HttpServer::State::decide(const Request& request,
                                                      const HttpHead& head) {
  if (head.method == "DELETE") return {.response = end_session(request, head)};
  Decision decision{.message = parse_json(request.body())};
  const Json& message = decision.message;
  const auto refuse = [&](const HttpRefusal& refusal) {
    const Json id = is_request(message) ? message.at("id") : Json();
    decision.response = refused(request, refusal, is_id(id) ? id : Json());
    // The body was read: the connection can be kept.
    decision.response->keep_alive(request.keep_alive());
    return decision;
  };
  if (message.is_discarded()) return refuse({400, "this is not JSON", kParseError});
  if (!is_whole(message)) return refuse({400, "this is not a batch of JSON-RPC 2.0 messages"});
  if (const auto refusal = refuse_mismatch(head, message)) return refuse(*refusal);
  decision.client = head.session;
  if (is_stateless(message)) {
    decision.client = "exchange " + std::to_string(++exchanges);
  } else if (is_request(message) && message.at("method") == "initialize") {
    const Result<std::string> session = new_session();
    if (!session) return refuse({500, to_text(session.error())});
    decision.client = decision.greeted = *session;
  } else if (head.session.empty()) {
    return refuse({400, "the header Mcp-Session-Id is missing: initialize first"});
  } else if (!knows(head.session)) {
    return refuse({404, "there is no such session"});
  }
  const bool speaks = message.is_array() || (message.is_object() && message.contains("jsonrpc"));
  if (speaks && requests_in(message) == 0) {
    server.receive(message, [](const Json&) {}, decision.client);
    decision.response = plain_response(request, http::status::accepted, "");
  }
  return decision;
}

asio::awaitable<void> HttpServer::State::serve(beast::tcp_stream stream) {
  const Counted counted(connections);
  Stranger stranger(strangers, stream);
  beast::flat_buffer buffer;
  for (bool keep = true; keep;) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kMostHead);
    parser.body_limit(kLargestMessage);
    stream.expires_after(stranger.is_one() ? kFirstHead : kIdle);
    const auto [no_head, head_size] =
        co_await http::async_read_header(stream, buffer, parser, kAwait);
    if (no_head && no_head != http::error::body_limit) break;
    const HttpHead head = head_of(parser.get());
    Decision decision = decide_early(parser.get(), head);
    if (no_head && !decision.response) decision = too_large(parser.get());
    if (!decision.response) {
      stranger.no_more();
      stream.expires_after(kTransfer);
      const auto [no_body, body_size] = co_await http::async_read(stream, buffer, parser, kAwait);
      if (no_body && no_body != http::error::body_limit) break;
      decision = no_body ? too_large(parser.get()) : decide(parser.get(), head);
    }
    stream.expires_never();
    if (decision.response) keep = co_await send_response(stream, *decision.response);
    else keep = co_await exchange(stream, parser.get(), head, decision);
  }
  boost::system::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
}

asio::awaitable<void> HttpServer::State::accept() {
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // EMFILE, for example: retry soon
      asio::steady_timer pause(loop, std::chrono::milliseconds(100));
      [[maybe_unused]] const auto waited = co_await pause.async_wait(kAwait);
      continue;
    }
    // Any process on this machine can connect; the oldest connection without a token is closed for
    // a new one.
    if (strangers.size() >= kMostStrangers) strangers.front()->close();
    if (connections >= kMostConnections) continue;  // closes it
    asio::co_spawn(loop, serve(beast::tcp_stream(std::move(socket))), asio::detached);
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Server& server, HttpOptions options) {
  const std::string name = options.address + " port " + std::to_string(options.port);
  auto state = std::make_unique<State>(server, std::move(options));
  boost::system::error_code error;
  const auto failed = [&] { return system_error_of(error.value(), "listen", name); };
  const auto address = asio::ip::make_address(state->options.address, error);
  if (error || !address.is_loopback()) return invalid("listen", name + " is not loopback");
  tcp::acceptor& acceptor = state->acceptor;
  const tcp::endpoint endpoint(address, state->options.port);
  if (acceptor.open(endpoint.protocol(), error)) return failed();
  if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return failed();
  if (acceptor.bind(endpoint, error)) return failed();
  if (acceptor.listen(tcp::acceptor::max_listen_connections, error)) return failed();
  state->options.port = acceptor.local_endpoint(error).port();
  if (error) return failed();
  return std::make_unique<HttpServer>(std::move(state));
}

std::string HttpServer::url() const {
  const std::string& address = state_->options.address;
  const std::string host = address.contains(':') ? "[" + address + "]" : address;
  return "http://" + host + ":" + std::to_string(state_->options.port) + std::string(kEndpoint);
}

void HttpServer::serve() {
  boost::system::error_code ignored;
  state_->signals.add(SIGINT, ignored);
  state_->signals.add(SIGTERM, ignored);
  state_->signals.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) state_->loop.stop();
  });
  asio::co_spawn(state_->loop, state_->accept(), asio::detached);
  state_->loop.run();
  state_->server.stop();
}

void HttpServer::stop() { state_->loop.stop(); }

}  // namespace coop::mcp
