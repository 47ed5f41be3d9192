#include "base/path.h"
#include "libexec/tools/commands.h"
#include "libexec/tools/open_session.h"

namespace coop::libexec {

namespace {

constexpr const char* kHelp =
    R"(usage: coop tool NAME ['{"argument": …}'] [--as USER | --channel SENDER [--group]] [--json]
       coop tool --list [--as USER | …]

Calls one tool as an agent would, and prints the result. Without --as and --channel the caller is the
agent itself: trust full, always in the sandbox.

  --config FILE       the coop.toml with the users (default: ./coop.toml, when a user is named)
  --workspace, -w DIR the workspace (default: the current directory)
  --on-leak WHAT      a secret in a result: redact (default), block or terminate
  --json              the whole result as JSON
  --verbose, -v       log on standard error; --log-format text|json
  --rw PATH, --memory SIZE, …  what the sandbox is like: see `coop run --help`

examples:
  coop tool bash '{"command": "make test"}'
  coop tool read_file '{"path": "README.md", "limit": 20}' --json
  coop tool --list --as bob

exit code: 0; 1 when the tool failed or was refused; 125 when coop itself failed
)";

constexpr std::array kOwnFlags{cli::PlainFlag{"--list"}};

std::string list_text(const tools::Session& session) {
  std::string text;
  for (const tools::ToolInfo* tool : session.tools())
    text += std::string(tool->name) +
            std::string(14 - std::min<std::size_t>(tool->name.size(), 13), ' ') +
            std::string(tool->description) + "\n";
  return text.empty() ? "this trust may use no tools\n" : text;
}

}  // namespace

Result<int> command_tool(cli::Arguments arguments) {
  std::vector<cli::PlainFlag> known = session_flags();
  known.insert(known.end(), kOwnFlags.begin(), kOwnFlags.end());
  const cli::PlainFlags flags = TRY(cli::parse_plain("tool", arguments, known, 2));
  if (flags.has("--help")) {
    cli::print(kHelp);
    return 0;
  }
  if (flags.words.empty() && !flags.has("--list"))
    return invalid("tool", "no tool is named", "coop tool NAME '{…}', or coop tool --list");
  const Opened opened = TRY(open_session(flags));
  if (flags.has("--list")) {
    TRY(cli::print_all(list_text(*opened.session)));
    return 0;
  }
  const tools::Json call =
      flags.words.size() < 2 ? tools::Json::object() : tools::parse_json(flags.words[1]);
  if (call.is_discarded())
    return invalid("tool", "the arguments are not JSON: " + printable(flags.words[1].substr(0, 80)),
                   R"(write them like '{"path": "README.md"}')");
  const tools::ToolOutput output = opened.session->call(flags.words[0], call);
  if (flags.has("--json")) {
    const tools::Json json{
        {"text", output.text}, {"structured", output.structured}, {"failed", output.failed}};
    TRY(cli::print_all(json.dump(2, ' ', false, tools::Json::error_handler_t::replace) + "\n"));
  } else {
    const std::string end = output.text.empty() || output.text.ends_with('\n') ? "" : "\n";
    TRY(cli::print_all(output.text + end));
  }
  return output.failed ? 1 : 0;
}

}  // namespace coop::libexec
