#include <sys/prctl.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/command.h"
#include "cli/exec_json.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "run/capture.h"
#include "run/prepare.h"
#include "run/sandbox_state.h"
#include "run/terminal.h"

namespace coop::cli {

namespace {

bool wants_terminal(const Options& options) {
  if (options.json || options.terminal == Terminal::never) return false;
  if (options.terminal == Terminal::always) return true;
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 &&
         ::isatty(STDERR_FILENO) == 1;
}

void report(const ExecOutput& output, const Options& options) {
  for (const std::string& note : output.notes) say("note: " + note);
  if (output.outcome == Outcome::timed_out)
    say("killed after the timeout of " +
        std::to_string(
            options.policy.limits.timeout.value_or(std::chrono::milliseconds{}).count()) +
        " ms");
  if (output.outcome == Outcome::out_of_memory) say("killed: out of memory (--memory)");
  if (output.outcome == Outcome::violation) say("killed: " + output.denials.front().rule);
  if (output.outcome == Outcome::not_found)
    say("\"" + printable(options.command.front()) + "\" was not found inside the sandbox");
  if (output.outcome == Outcome::not_executable)
    say("\"" + printable(options.command.front()) + "\" is not a program that can be run");
  for (const Quarantined& moved : output.quarantined)
    say("quarantined " + printable(moved.path) + " to " + printable(moved.moved_to) + " (" +
        moved.rule + "; to allow it: --allow-guarded " +
        moved.rule.substr(moved.rule.find(' ') + 1) + ")");
}

Result<ExecOutput> run_captured(const Policy& policy, const Command& command) {
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  Stdio stdio = pipes.stdio();
  stdio.input = STDIN_FILENO;
  auto state = TRY(run::start(policy, &command,
                              {.stdio = stdio,
                               .parent_death = run::ParentDeath::signalled,
                               .attended = true,
                               .timeout = policy.limits.timeout}));
  Result<ExecOutput> output = run::accompany_captured(*state, std::move(pipes), std::nullopt);
  run::part_with(*state);
  return output;
}

Result<ExecOutput> run_attended(const Policy& policy, const Command& command,
                                const Options& options) {
  const std::optional<std::chrono::milliseconds> timeout = policy.limits.timeout;
  run::LaunchOptions launch{.stdio = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
                            .parent_death = run::ParentDeath::signalled,
                            .attended = true,
                            .timeout = timeout};
  const bool terminal = wants_terminal(options);
  if (terminal) {
    launch.terminal = run::terminal_size(STDIN_FILENO).value_or(run::TerminalSize{});
    launch.stdio = {};
    launch.attended = false;  // the janitor comes at once: it watches over the raw terminal too
  }
  auto state = TRY(run::start(policy, &command, launch));
  Result<ExecOutput> output =
      terminal ? run::attend(*state, timeout) : run::accompany(*state, timeout);
  run::part_with(*state);
  return output;
}

}  // namespace

Result<int> command_run(Arguments arguments) {
  const Options options = TRY(parse(arguments));
  if (options.help) {
    print(run_help_text("run"));
    return 0;
  }
  if (options.command.empty())
    return invalid("run", "there is no command", "coop run -- COMMAND [ARGUMENTS…]");
  Policy policy = TRY(policy_of(options));
  policy.session = run::new_session();
  // Nothing of the same user may attach to us and read what we hold, not even a process that got out.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const Command command{.arguments = options.command};
  const ExecOutput output =
      TRY(options.json ? run_captured(policy, command) : run_attended(policy, command, options));
  if (options.json) TRY(print_all(exec_json(output, policy.session)));
  else report(output, options);
  return output.exit_code;
}

}  // namespace coop::cli
