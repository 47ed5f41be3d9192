#include <signal.h>
#include <unistd.h>

#include "libexec/tools/commands.h"
#include "libexec/tools/open_session.h"
#include "tools/mcp/server.h"

namespace coop::libexec {

namespace {

constexpr const char* kHelp =
    R"(usage: coop mcp [--workspace DIR] [--config FILE] [--as USER | --channel SENDER [--group]]

Serves the tools to an MCP client on standard input and output. Without --as and --channel the caller is
the agent itself: trust full, always in the sandbox; without --workspace it is the current directory.

  --on-leak WHAT      a secret in a result: redact (default), block or terminate
  --verbose, -v       log on standard error; --log-format text|json

examples:
  claude mcp add coop -- coop mcp
  coop mcp --workspace ~/project
  coop mcp --config /srv/gateway/coop.toml --channel signal:+15555550101
)";

}  // namespace

Result<int> command_mcp(cli::Arguments arguments) {
  const cli::PlainFlags flags = TRY(cli::parse_plain("mcp", arguments, session_flags(), 0));
  if (flags.has("--help")) {
    cli::print(kHelp);
    return 0;
  }
  ::signal(SIGPIPE, SIG_IGN);  // a client that goes away ends our input as well
  const Opened opened = TRY(open_session(flags));
  opened.session->warm_up();
  tools::mcp::Server server(*opened.session, opened.workspace, COOP_VERSION);
  TRY(tools::mcp::serve_stdio(server, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace coop::libexec
