#include "libexec/tools/tools_options.h"

#include <unistd.h>

#include "base/redact.h"
#include "cli/flags.h"
#include "host/environment.h"
#include "run/prepare.h"

namespace coop::libexec {

namespace {

std::unique_ptr<Logger> logger_for(const cli::Parsed& flags) {
  const bool verbose = flags.has("--verbose");
  const bool text = flags.has("--log-format") ? flags.get("--log-format") == "text"
                                              : ::isatty(STDERR_FILENO) == 1;
  auto log = std::make_unique<Logger>(STDERR_FILENO, text ? LogFormat::text : LogFormat::json,
                                      verbose ? LogLevel::debug : LogLevel::warn);
  log->set_id(run::new_id());
  for (const auto& [name, value] : host::read_environment())
    if (names_a_secret(name)) log->add_secret(value);
  return log;
}

}  // namespace

Result<ToolsOptions> tools_options(const cli::Parsed& flags) {
  ToolsOptions options{.log = logger_for(flags)};
  options.request.log = options.log.get();
  cli::Options said = TRY(cli::options_of(flags));
  options.request.wanted = std::move(said.wanted);
  options.request.on_leak =
      TRY(with_context("--on-leak", tools::parse_on_leak(flags.get("--on-leak", "redact"))));
  return options;
}

}  // namespace coop::libexec
