#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/path.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/open_session.h"
#include "sys/fd.h"
#include "tools/mcp/http.h"
#include "tools/mcp/server.h"

namespace coop::libexec {

namespace {

constexpr const char* kHelp =
    R"(usage: coop mcp [--workspace DIR] [--config FILE] [--as USER | --channel SENDER [--group]]
                [--http 127.0.0.1:PORT]

Serves the tools to an MCP client, on standard input and output. Without --as and --channel the caller is
the agent itself: trust full, always in the sandbox; without --workspace it is the current directory.

  --http ADDRESS      serve streamable HTTP at http://ADDRESS/mcp instead, on loopback only; port 0
                      lets the kernel choose. Clients send "Authorization: Bearer TOKEN".
  --token-file FILE   the token; made with a new one when the file is missing. Without this, it is
                      taken from $COOP_MCP_TOKEN, or made and shown on standard error
  --on-leak WHAT      a secret in a result: redact (default), block or terminate
  --verbose, -v       log on standard error; --log-format text|json
  --rw PATH, --memory SIZE, …  what the sandbox is like: see `coop run --help`

examples:
  claude mcp add coop -- coop mcp
  coop mcp --workspace ~/project
  coop mcp --config /srv/gateway/coop.toml --channel signal:+15555550101
  coop mcp --http 127.0.0.1:8765 --token-file ~/.config/coop/mcp-token
)";

constexpr std::size_t kShortestToken = 16;

// Where the token is from, for the line that says how to connect.
struct Token {
  std::string text{};
  std::string from{};  // empty: it was made for this run alone, and has to be shown
};

Result<std::string> checked(std::string text, const std::string& from) {
  while (text.ends_with('\n')) text.pop_back();
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=") ==
                     std::string::npos;
  if (plain && text.size() >= kShortestToken) return text;
  return invalid("token", from + " holds no token of at least 16 letters and digits");
}

Result<Token> token_of_file(const Path& file) {
  const std::string name = "\"" + printable(file) + "\"";
  // Exclusive: another server that starts now must not end up with another token.
  const UniqueFd made(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.valid()) {
    std::string token = TRY(tools::mcp::make_token());
    TRY(write_all(made.get(), token + "\n", file));
    return Token{std::move(token), name};
  }
  if (errno != EEXIST) return system_error("create the token file", file);
  const UniqueFd fd = TRY(open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return system_error("stat", file);
  if (!S_ISREG(status.st_mode)) return invalid("--token-file", name + " is not a plain file");
  // In a directory of others it may be theirs, and then they know the token.
  if (status.st_uid != ::geteuid())
    return invalid("--token-file", name + " belongs to somebody else");
  if ((status.st_mode & 077) != 0)
    return invalid("--token-file", name + " can be read by others", "chmod 600 " + printable(file));
  const std::string text = TRY(read_all(fd.get(), file));
  std::string token = TRY(checked(text, name));
  return Token{std::move(token), name};
}

Result<Token> find_token(const cli::PlainFlags& flags) {
  if (flags.has("--token-file")) return token_of_file(flags.get("--token-file"));
  if (const char* variable = ::getenv("COOP_MCP_TOKEN"); variable != nullptr) {
    std::string token = TRY(checked(variable, "$COOP_MCP_TOKEN"));
    return Token{std::move(token), "$COOP_MCP_TOKEN"};
  }
  std::string token = TRY(tools::mcp::make_token());
  return Token{std::move(token), ""};
}

Result<void> serve_http(tools::mcp::Server& server, const cli::PlainFlags& flags) {
  tools::mcp::HttpOptions options = TRY(tools::mcp::parse_listen_address(flags.get("--http")));
  const Token token = TRY(find_token(flags));
  options.token = token.text;
  const std::unique_ptr<tools::mcp::HttpServer> listening =
      TRY(tools::mcp::HttpServer::listen(server, std::move(options)));
  const std::string how =
      token.from.empty() ? "token: " + token.text : "token: as in " + token.from;
  cli::print_note("serving MCP at " + listening->url() + "\n" + how);
  listening->serve();
  return {};
}

}  // namespace

Result<int> command_mcp(cli::Arguments arguments) {
  std::vector<cli::PlainFlag> known = session_flags();
  known.push_back({"--http", "ADDRESS"});
  known.push_back({"--token-file", "FILE"});
  const cli::PlainFlags flags = TRY(cli::parse_plain("mcp", arguments, known, 0));
  if (flags.has("--help")) {
    cli::print(kHelp);
    return 0;
  }
  if (flags.has("--token-file") && !flags.has("--http"))
    return invalid("--token-file", "there is no token without --http");
  ::signal(SIGPIPE, SIG_IGN);  // a client that goes away ends our input as well
  const Opened opened = TRY(open_session(flags));
  opened.session->warm_up();
  tools::mcp::Server server(*opened.session, COOP_VERSION);
  if (flags.has("--http")) TRY(serve_http(server, flags));
  else TRY(tools::mcp::serve_stdio(server, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace coop::libexec
