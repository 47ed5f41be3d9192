#include "libexec/tools/open_session.h"

#include <unistd.h>

#include <array>

#include "cli/options_policy.h"
#include "run/prepare.h"

namespace coop::libexec {

namespace {

using cli::PlainFlag;

constexpr std::array kFlags{PlainFlag{"--config", "FILE"},
                            PlainFlag{"--agent", "ID"},
                            PlainFlag{"--as", "USER"},
                            PlainFlag{"--channel", "SENDER"},
                            PlainFlag{"--group"},
                            PlainFlag{"--workspace", "DIR"},
                            PlainFlag{"-w", "DIR"},
                            PlainFlag{"--on-leak", "WHAT"},
                            PlainFlag{"-v"},
                            PlainFlag{"--verbose"},
                            PlainFlag{"--log-format", "FORMAT"},
                            PlainFlag{"--json"},
                            PlainFlag{"--http", "ADDRESS"}};

// The flags of `coop run` that mean the same.
std::vector<std::string> as_run_flags(const cli::PlainFlags& flags) {
  std::vector<std::string> words;
  for (const char* name :
       {"--config", "--agent", "--as", "--channel", "--workspace", "-w", "--log-format"})
    if (flags.has(name)) words.insert(words.end(), {name, flags.get(name)});
  if (flags.has("--group")) words.emplace_back("--group");
  return words;
}

std::unique_ptr<Logger> logger_for(const cli::PlainFlags& flags) {
  if (!flags.has("-v") && !flags.has("--verbose")) return nullptr;
  const bool text = flags.has("--log-format") ? flags.get("--log-format") == "text"
                                              : ::isatty(STDERR_FILENO) == 1;
  auto log = std::make_unique<Logger>(STDERR_FILENO, text ? LogFormat::text : LogFormat::json,
                                      LogLevel::debug);
  log->set_session(run::new_session());
  return log;
}

Result<tools::OnLeak> parse_on_leak(const std::string& word) {
  if (word == "redact") return tools::OnLeak::redact;
  if (word == "block") return tools::OnLeak::block;
  if (word == "terminate") return tools::OnLeak::terminate;
  return invalid("--on-leak", "\"" + word + "\" is not one of its words",
                 "redact, block or terminate");
}

// For the agent itself the sandbox is off only where a file says so; for people of a coop.toml it is on
// only where that says so.
bool is_enabled(const cli::Request& request) {
  const auto mode = request.effective.settings.find(policy::Key::mode);
  const bool said = mode != request.effective.settings.end();
  const bool enabled = said && mode->second.value == policy::Scalar(std::string("enabled"));
  const bool person = request.casting && request.casting->someone;
  return person ? enabled : !said || enabled;
}

}  // namespace

std::span<const PlainFlag> session_flags() { return kFlags; }

Result<Opened> open_session(const cli::PlainFlags& flags) {
  const std::vector<std::string> words = as_run_flags(flags);
  const cli::Request request = TRY(cli::read_request(words, cli::Purpose::tools));
  Opened opened;
  opened.log = logger_for(flags);
  tools::SessionOptions options{
      .policy = request.policy, .sandbox_enabled = is_enabled(request), .log = opened.log.get()};
  options.on_leak = TRY(parse_on_leak(flags.get("--on-leak", "redact")));
  if (request.casting && request.casting->someone) {
    options.trust = request.casting->principal.trust;
    if (request.casting->principal.user != nullptr)
      options.user = request.casting->principal.user->name;
  }
  const HostFacts facts = TRY(cli::surroundings());
  options.policy.workspace = cli::real_workspace(facts, request.policy.workspace);
  if (options.policy.workspace.empty())
    return invalid("--workspace", "\"" + request.policy.workspace + "\" does not exist");
  opened.workspace = options.policy.workspace;
  opened.session = TRY(tools::Session::open(std::move(options)));
  return opened;
}

}  // namespace coop::libexec
