#include "cli/run_log.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/quantity.h"
#include "base/redact.h"
#include "cli/command.h"
#include "plan/show/steps.h"
#include "policy/policy.h"
#include "report/text.h"

namespace coop::cli {

namespace {

constexpr std::string_view kSpan = "sandbox_exec";

LogFormat format_of(const Options& options) {
  if (options.log_format) return *options.log_format;
  return ::isatty(STDERR_FILENO) == 1 ? LogFormat::text : LogFormat::json;
}

LogValue count_or_unlimited(const std::optional<std::uint64_t>& count) {
  if (count) return static_cast<std::int64_t>(*count);
  return std::string("unlimited");
}

LogValue milliseconds_or_unlimited(const std::optional<std::chrono::milliseconds>& time) {
  if (time) return std::int64_t{time->count()};
  return std::string("unlimited");
}

template <typename Wanted>
bool has_step(const Plan& plan) {
  return std::ranges::any_of(
      plan.steps, [](const Step& step) { return std::holds_alternative<Wanted>(step.action); });
}

// The users of coop.toml that bypass the sandbox.
std::string bypassing(const request::ActingAs* acting_as) {
  std::string names;
  if (acting_as != nullptr)
    for (const policy::User& user : acting_as->config->users)
      if (!policy::is_sandboxed(user.trust)) names += (names.empty() ? "" : ", ") + user.name;
  return names;
}

}  // namespace

RunLog::RunLog(const Options& options, const std::string& id) {
  const bool json = options.log_format == LogFormat::json ||
                    (options.verbose && format_of(options) == LogFormat::json);
  if (json) {
    notes_ = std::make_unique<Logger>(STDERR_FILENO, LogFormat::json, LogLevel::info);
    notes_->set_id(id);
  }
  if (!options.verbose) return;
  logger_ = std::make_unique<Logger>(STDERR_FILENO, format_of(options), LogLevel::debug);
  logger_->set_id(id);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = std::min(text.find('='), text.size() - 1);
    if (names_a_secret(text.substr(0, equals)))
      logger_->add_secret(std::string(text.substr(equals + 1)));
  }
  const policy::Settings& flags = options.wanted.flags;
  if (const auto variables = flags.find(policy::Key::env_set); variables != flags.end())
    for (const policy::Item& item : variables->second.items)
      if (names_a_secret(item.text)) logger_->add_secret(item.value);
}

void RunLog::begin(const Request& request) {
  if (!logger_) return;
  for (const policy::Refusal& refusal : request.effective.refused)
    logger_->write(LogLevel::warn, kSpan, "a policy file was cut back",
                   std::array{LogField{"what", to_text(refusal)}});
  if (request.acting_as && request.acting_as->someone) {
    const policy::Principal& principal = request.acting_as->principal;
    const std::array fields{LogField{"user", principal.user == nullptr ? "" : principal.user->name},
                            LogField{"trust", std::string(to_text(principal.trust))},
                            LogField{"reason", principal.reason}};
    logger_->write(LogLevel::info, kSpan,
                   policy::is_sandboxed(principal.trust)
                       ? "running for a user of coop.toml"
                       : "the owner's tools bypass the sandbox; coop run does not",
                   fields);
  }
  const Policy& policy = request.policy;
  const std::vector<std::string>& command = request.options.command;
  const std::size_t arguments = command.empty() ? 0 : command.size() - 1;
  // Not the arguments: they often contain tokens.
  const std::array fields{LogField{"program", command.empty() ? std::string() : command.front()},
                          LogField{"arguments", static_cast<std::int64_t>(arguments)},
                          LogField{"view", std::string(to_text(policy.view))},
                          LogField{"network", std::string(to_text(policy.network))},
                          LogField{"memory", count_or_unlimited(policy.limits.memory)},
                          LogField{"pids", count_or_unlimited(policy.limits.pids)},
                          LogField{"timeout_ms", milliseconds_or_unlimited(policy.limits.timeout)}};
  logger_->write(LogLevel::debug, kSpan, "starting a command", fields);
}

void RunLog::started(const Plan& plan) {
  if (!logger_) return;
  logger_->write(LogLevel::info, kSpan, "this machine's isolation",
                 std::array{LogField{"sandbox", isolation_of(plan)}});
  std::size_t number = 0;
  for (const Step& step : plan.steps)
    logger_->write(LogLevel::debug, kSpan, plan::sentence(step.action),
                   std::array{LogField{"step", static_cast<std::int64_t>(++number)},
                              LogField{"steps", static_cast<std::int64_t>(plan.steps.size())},
                              LogField{"rule", report::to_text(step.origin)}});
  for (const std::string& note : plan.notes) logger_->write(LogLevel::warn, kSpan, note);
}

void RunLog::ended(const ExecOutput& output) {
  if (!logger_) return;
  for (const Quarantined& moved : output.quarantined)
    logger_->write(
        LogLevel::warn, kSpan, "quarantined a guarded file",
        std::array{LogField{"path", moved.path}, LogField{"rule", "guard " + moved.guard}});
  const std::array fields{
      LogField{"outcome", std::string(to_text(output.outcome))},
      LogField{"exit_code", std::int64_t{output.exit_code}},
      LogField{"wall_us", std::int64_t{output.usage.wall.count()}},
      LogField{"peak_memory", static_cast<std::int64_t>(output.usage.peak_memory)}};
  logger_->write(LogLevel::debug, kSpan, "the command has ended", fields);
}

void RunLog::say(const std::string& text) {
  if (notes_) notes_->write(LogLevel::warn, kSpan, text);
  else cli::say(text);
}

void RunLog::failed(const Error& error) {
  if (logger_)
    logger_->write(LogLevel::error, kSpan, to_text(error),
                   std::array{LogField{"hint", hint_of(error)}});
}

std::function<void(const NetworkEvent&)> RunLog::network_hook() {
  if (!logger_) return {};
  return [this](const NetworkEvent& event) {
    const std::array fields{LogField{"kind", std::string(to_text(event.kind))},
                            LogField{"host", printable(event.host)},
                            LogField{"port", std::int64_t{event.port}},
                            LogField{"address", event.address},
                            LogField{"verdict", event.allowed ? "allowed" : "denied"},
                            LogField{"rule", report::to_text(event.rule)},
                            LogField{"grant", report::plain_text(event.grant)},
                            LogField{"problem", event.problem},
                            LogField{"sent", static_cast<std::int64_t>(event.sent)},
                            LogField{"received", static_cast<std::int64_t>(event.received)}};
    logger_->write(event.allowed ? LogLevel::info : LogLevel::warn, "network", "network", fields);
  };
}

std::string isolation_of(const Plan& plan) {
  return has_step<RestrictLandlock>(plan) ? "linux (namespaces + landlock + seccomp)"
                                          : "linux (namespaces + seccomp, no landlock)";
}

std::string banner(const Plan& plan, const Request& request) {
  const std::string names = bypassing(request.acting_as.get());
  const NetworkMode mode = plan.network.mode;
  const std::string network = mode == NetworkMode::none   ? "no network"
                              : mode == NetworkMode::host ? "the HOST's network"
                                                          : "network " + std::string(to_text(mode));
  return std::string("this command runs in a sandbox (namespaces, ") +
         (has_step<RestrictLandlock>(plan) ? "Landlock, seccomp" : "seccomp, no Landlock") +
         ") with " + network + (request.preset ? ", preset " + request.preset->preset.name : "") +
         (names.empty() ? "" : "; tools called by an owner (" + names + ") do not") +
         "; --quiet hides this line";
}

}  // namespace coop::cli
