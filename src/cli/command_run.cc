#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "base/path.h"
#include "base/text.h"
#include "cli/agents/login.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/missing_program.h"
#include "cli/options_policy.h"
#include "cli/run_log.h"
#include "cli/usage/usage.h"
#include "coop/text/denial.h"
#include "report/exec_json.h"
#include "report/text.h"
#include "run/output/capture.h"
#include "run/prepare.h"
#include "run/sandbox_state.h"
#include "run/terminal/terminal.h"

namespace coop::cli {

namespace {

bool wants_terminal(const Options& options) {
  if (options.json || options.terminal == Terminal::never) return false;
  if (options.terminal == Terminal::always) return true;
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 &&
         ::isatty(STDERR_FILENO) == 1;
}

// `coop run` always sandboxes; mode = "disabled" affects tools only.
void note_mode(const policy::Effective& effective, RunLog& log) {
  if (word_of(effective.settings, policy::Key::mode) != "disabled") return;
  log.say("note: " + report::to_text(effective.settings.at(policy::Key::mode).origin) +
          ": mode = \"disabled\" is for tools; coop run always sandboxes");
}

// The program itself reports only "connection refused".
void report_network(const ExecOutput& output, RunLog& log) {
  constexpr std::size_t kMostLines = 10;
  std::size_t count = 0;
  for (const Denial& denial : run::denials_of(output.network)) {
    if (++count > kMostLines) continue;
    log.say("denied " + to_text(denial));
  }
  if (count > kMostLines) log.say("more was denied; -v logs it as it happens, --json lists it");
  count = 0;
  for (const NetworkEvent& event : report::unreached_of(output.network))
    if (++count <= kMostLines) log.say(report::unreached_text(event));
  if (count > kMostLines) log.say("more hosts were not reached; --json lists them");
}

struct Attended {
  ExecOutput output{};
  run::Key key{};
  std::vector<std::string> said{};  // notes, before the command began
};

void report(const Attended& attended, const Policy& policy, RunLog& log) {
  const ExecOutput& output = attended.output;
  for (const std::string& note : output.notes)
    if (!contains(attended.said, note)) log.say("note: " + note);
  if (output.outcome == Outcome::timed_out)
    log.say("killed after the timeout of " +
            std::to_string(policy.limits.timeout.value_or(std::chrono::milliseconds{}).count()) +
            " ms");
  if (output.outcome == Outcome::out_of_memory) log.say("killed: out of memory (--memory)");
  if (output.outcome == Outcome::violation)
    log.say("killed: " + report::to_text(output.denials.front().rule));
  for (const Quarantined& moved : output.quarantined)
    log.say("quarantined " + printable(moved.path) + " to " + printable(moved.moved_to) + " (" +
            "guard " + moved.guard + (moved.problem.empty() ? "" : ": " + moved.problem) +
            "; to allow it: --allow-guarded " + moved.guard + ")");
  if (output.quarantined_total > output.quarantined.size())
    log.say("quarantined " + std::to_string(output.quarantined_total) + " guarded files in all");
  if (!output.quarantined.empty())
    log.say("to put them back, if they are yours: coop quarantine restore " + policy.id);
  if (output.outcome == Outcome::guards_incomplete)
    log.say(
        "guarded files that the command made may still be in the workspace (see the notes): do not "
        "use git, editors or other tools there before you have looked");
  report_network(output, log);
}

run::LaunchOptions launch_options(const Policy& policy, const Stdio& stdio, RunLog& log) {
  return {.stdio = stdio,
          .parent_death = run::ParentDeath::signalled,
          .defer_janitor = true,
          .timeout = policy.limits.timeout,
          .network = log.network_hook(),
          .raise_descriptors = true};
}

Result<Attended> run_captured(const Policy& policy, const Command& command, RunLog& log) {
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  Stdio stdio = pipes.stdio();
  stdio.input = STDIN_FILENO;
  auto state = TRY(run::start(policy, &command, launch_options(policy, stdio, log)));
  log.started(state->prepared.plan);
  Result<ExecOutput> output = run::run_forwarding_signals(*state, std::move(pipes));
  run::destroy(*state);
  if (!output) return std::unexpected(output.error());
  return Attended{*std::move(output), state->key};
}

Result<Attended> run_attended(const Request& request, const Policy& policy, const Command& command,
                              RunLog& log) {
  const Options& options = request.options;
  const std::optional<std::chrono::milliseconds> timeout = policy.limits.timeout;
  run::LaunchOptions launch =
      launch_options(policy, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}, log);
  const bool terminal = wants_terminal(options);
  if (terminal) {
    launch.terminal = run::terminal_size(STDIN_FILENO).value_or(run::TerminalSize{});
    launch.stdio = {};
    launch.defer_janitor = false;  // fork the janitor at once: it also restores the raw terminal
  }
  auto state = TRY(run::start(policy, &command, launch));
  log.started(state->prepared.plan);
  // The command's output passes through us: nothing of it is on the screen yet.
  std::vector<std::string> said;
  if (terminal && !options.quiet) {
    log.say(banner(state->prepared.plan, request));
    // What a person should know before a long session, not after it.
    said = state->prepared.plan.notes;
    for (const std::string& note : said) log.say("note: " + note);
  }
  Result<ExecOutput> output = terminal ? run::run_in_terminal(*state, timeout)
                                       : run::run_forwarding_signals(*state, timeout);
  run::destroy(*state);
  if (!output) return std::unexpected(output.error());
  return Attended{*std::move(output), state->key, std::move(said)};
}

enum class Form : std::uint8_t { text, json };

bool has_terminal() {
  return ::isatty(STDIN_FILENO) == 1 || ::isatty(STDOUT_FILENO) == 1 ||
         ::isatty(STDERR_FILENO) == 1;
}

// A shell stops its loop at Ctrl-C only if the command itself died of the signal, not if it exited with 130; and a script
// only if its shell got the signal too, which the terminal sends to the whole process group unless it is raw.
// Returns when that does not fit: no terminal, or the caller ignores the signal.
void die_like(const ExecOutput& output, const run::Key& key, Form form) {
  constexpr std::array kFromTerminals{SIGINT, SIGQUIT, SIGHUP, SIGTERM};
  // With all streams redirected Ctrl-C still comes from a terminal.
  const bool by_key = output.signal == key.signal;
  if (output.outcome != Outcome::signalled ||
      (!by_key && (form == Form::json || !has_terminal())) ||
      std::ranges::find(kFromTerminals, output.signal) == kFromTerminals.end())
    return;
  struct sigaction now{};
  if (::sigaction(output.signal, nullptr, &now) < 0 || now.sa_handler == SIG_IGN) return;
  std::cout.flush();
  std::fflush(nullptr);
  now.sa_handler = SIG_DFL;
  ::sigaction(output.signal, &now, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, output.signal);
  // Only for a key: a command that kills itself must not signal processes of the caller.
  ::kill(by_key && key.relayed ? 0 : ::getpid(), output.signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

Result<int> command_run(const Parsed& parsed) {
  const Request request = TRY(read_request(parsed));
  const Options& options = request.options;
  if (options.command.empty())
    return invalid("run", "there is no command", "coop run -- COMMAND [ARGUMENTS…]");
  Policy policy = request.policy;
  policy.id = run::new_id();
  // No process of the same user may ptrace us and read our memory, not even one that escaped.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  RunLog log(options, policy.id);
  log.begin(request);
  note_mode(request.effective, log);
  TRY(provide_login(request, log));
  const Command command{.arguments = options.command};
  Result<Attended> attended = options.json ? run_captured(policy, command, log)
                                           : run_attended(request, policy, command, log);
  if (!attended) {
    log.failed(attended.error());
    return std::unexpected(attended.error());
  }
  ExecOutput* const output = &attended->output;
  log.ended(*output);
  if (output->outcome == Outcome::not_found) {
    const std::string why = explain_missing(policy, options.command.front());
    if (options.json) output->notes.push_back(why);
    else log.say(why);
  }
  if (options.json) TRY(print_all(report::exec_json(*output, policy.id)));
  else report(*attended, policy, log);
  die_like(*output, attended->key, options.json ? Form::json : Form::text);
  return output->exit_code;
}

}  // namespace coop::cli
