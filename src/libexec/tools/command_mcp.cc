#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/path.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/tools_options.h"
#include "mcp/http/http.h"
#include "mcp/server.h"
#include "sys/fd.h"

namespace coop::libexec {

namespace {

constexpr std::size_t kShortestToken = 16;

// The source of the token, for the message that says how to connect.
struct Token {
  std::string text{};
  std::string from{};  // empty: generated for this run, and must be shown
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
  // O_EXCL: a server starting concurrently must not create another token.
  const UniqueFd made(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.valid()) {
    std::string token = TRY(mcp::make_token());
    TRY(write_all(made.get(), token + "\n", file));
    return Token{std::move(token), name};
  }
  if (errno != EEXIST) return system_error("create the token file", file);
  const UniqueFd fd = TRY(open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return system_error("stat", file);
  if (!S_ISREG(status.st_mode)) return invalid("--token-file", name + " is not a plain file");
  // The owner of the file knows the token.
  if (status.st_uid != ::geteuid())
    return invalid("--token-file", name + " belongs to another user");
  if ((status.st_mode & 077) != 0)
    return invalid("--token-file", name + " can be read by others", "chmod 600 " + printable(file));
  const std::string text = TRY(read_all(fd.get(), file));
  std::string token = TRY(checked(text, name));
  return Token{std::move(token), name};
}

Result<Token> find_token(const cli::Parsed& flags) {
  if (flags.has("--token-file")) return token_of_file(flags.get("--token-file"));
  if (const char* variable = ::getenv("COOP_MCP_TOKEN"); variable != nullptr) {
    std::string token = TRY(checked(variable, "$COOP_MCP_TOKEN"));
    return Token{std::move(token), "$COOP_MCP_TOKEN"};
  }
  std::string token = TRY(mcp::make_token());
  return Token{std::move(token), ""};
}

bool wants_json(const cli::Parsed& flags) { return flags.get("--log-format", "") == "json"; }

Result<void> serve_http(mcp::Server& server, const cli::Parsed& flags) {
  mcp::HttpOptions options = TRY(mcp::parse_listen_address(flags.get("--http")));
  const Token token = TRY(find_token(flags));
  if (wants_json(flags) && token.from.empty())
    return invalid("--http", "a log in JSON would keep the token that has to be shown",
                   "name a file for it, --token-file FILE, or set COOP_MCP_TOKEN");
  options.token = token.text;
  const std::unique_ptr<mcp::HttpServer> listening =
      TRY(mcp::HttpServer::listen(server, std::move(options)));
  if (wants_json(flags)) {
    Logger(STDERR_FILENO, LogFormat::json, LogLevel::info)
        .write(LogLevel::info, "mcp", "serving MCP",
               std::array{LogField{"url", listening->url()}, LogField{"token_from", token.from}});
    listening->serve();
    return {};
  }
  const std::string how =
      token.from.empty() ? "token: " + token.text : "token: as in " + token.from;
  cli::print_note("serving MCP at " + listening->url() + "\n" + how);
  listening->serve();
  return {};
}

}  // namespace

Result<int> command_mcp(const cli::Parsed& flags) {
  ::signal(SIGPIPE, SIG_IGN);  // a client that closes the pipe also ends our input
  ToolsOptions options = TRY(tools_options(flags));
  options.request.tmp = tools::KeptTmp::between_calls;
  const std::unique_ptr<tools::LiveTools> tools = TRY(tools::LiveTools::open(options.request));
  tools->look().toolbox->warm_up();
  mcp::Server server(*tools, COOP_VERSION);
  if (flags.has("--http")) TRY(serve_http(server, flags));
  else TRY(mcp::serve_stdio(server, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace coop::libexec
