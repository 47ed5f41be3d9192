#include "libexec/tools/open_session.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/flags.h"
#include "embed/open_session.h"
#include "run/prepare.h"

namespace coop::libexec {

namespace {

using cli::PlainFlag;

constexpr std::array kOwn{PlainFlag{"--on-leak", "WHAT"}, PlainFlag{"-v"}, PlainFlag{"--verbose"},
                          PlainFlag{"--log-format", "FORMAT"}, PlainFlag{"--json"}};

// What `coop run` has for the terminal and its one command means nothing here: tools have their own.
bool is_about_the_sandbox(const cli::Flag& flag) {
  constexpr std::array<std::string_view, 3> kOfCommands{"--cron", "--timeout", "--output-limit"};
  return flag.group != "Terminal and output" &&
         std::ranges::find(kOfCommands, flag.name) == kOfCommands.end();
}

bool is_run_flag(std::string_view name) {
  return std::ranges::any_of(cli::flags(), [&](const cli::Flag& flag) {
    return is_about_the_sandbox(flag) && (flag.name == name || flag.alias == name);
  });
}

std::vector<std::string> run_flags(const cli::PlainFlags& flags) {
  std::vector<std::string> words;
  for (const auto& [name, value] : flags.given) {
    if (!is_run_flag(name)) continue;
    words.push_back(name);
    if (value) words.push_back(*value);
  }
  return words;
}

std::unique_ptr<Logger> logger_for(const cli::PlainFlags& flags) {
  const bool verbose = flags.has("-v") || flags.has("--verbose");
  const bool text = flags.has("--log-format") ? flags.get("--log-format") == "text"
                                              : ::isatty(STDERR_FILENO) == 1;
  auto log = std::make_unique<Logger>(STDERR_FILENO, text ? LogFormat::text : LogFormat::json,
                                      verbose ? LogLevel::debug : LogLevel::warn);
  log->set_session(run::new_session());
  return log;
}

}  // namespace

std::vector<PlainFlag> session_flags() {
  std::vector<PlainFlag> known(kOwn.begin(), kOwn.end());
  for (const cli::Flag& flag : cli::flags()) {
    if (!is_about_the_sandbox(flag)) continue;
    known.push_back({flag.name, flag.value});
    if (!flag.alias.empty()) known.push_back({flag.alias, flag.value});
  }
  return known;
}

Result<Opened> open_session(const cli::PlainFlags& flags) {
  Opened opened{.log = logger_for(flags)};
  embed::SessionRequest request{.flags = run_flags(flags), .log = opened.log.get()};
  request.on_leak =
      TRY(with_context("--on-leak", embed::parse_on_leak(flags.get("--on-leak", "redact"))));
  opened.session = TRY(embed::open_session(request));
  return opened;
}

}  // namespace coop::libexec
