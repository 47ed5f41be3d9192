#include "libexec/tools/tools_options.h"

#include <unistd.h>

#include "cli/flags.h"
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
