#include "tools/shell/host_exec.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/path.h"
#include "host/environment.h"
#include "run/cleanup/kept_command.h"
#include "run/output/capture.h"
#include "run/supervise.h"
#include "sys/fd.h"

namespace coop::tools {

namespace {

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> variables = host::read_environment();
  for (const auto& [name, value] : command.environment) variables[name] = value;
  std::vector<std::string> words;
  words.reserve(variables.size());
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  return words;
}

// As execvp(3) looks for it, in our own PATH.
std::string find_program(const std::string& name) {
  if (name.contains('/')) return name;
  const char* const path = ::getenv("PATH");
  std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
  while (true) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    const std::string file = join(directory, name);
    struct stat status{};
    // An empty or relative entry is the workspace, where others can place a program.
    if (directory.starts_with('/') && ::access(file.c_str(), X_OK) == 0 &&
        ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      return file;
    if (directory.size() == rest.size()) return name;
    rest.remove_prefix(directory.size() + 1);
  }
}

Result<run::KeptCommand> start(const Command& command, const Path& directory,
                               const run::CapturePipes& pipes) {
  // Both are names without links. One that is there now was put there since, and leads elsewhere.
  const Path where = command.directory.value_or(directory);
  const UniqueFd root = TRY(open_file("/", O_PATH | O_DIRECTORY));
  const Path below(relative_to(where, "/"));
  const UniqueFd start =
      TRY(open_beneath(root.get(), below.empty() ? "." : below, O_RDONLY | O_DIRECTORY));
  return run::KeptCommand::start({.program = find_program(command.arguments.front()),
                                  .arguments = command.arguments,
                                  .environment = environment_of(command),
                                  .directory = start.get(),
                                  .output = pipes.output.write.get(),
                                  .error = pipes.error.write.get()});
}

void set_outcome(ExecOutput& output, int status, run::Ending ending) {
  if (ending == run::Ending::timed_out) {
    output.outcome = Outcome::timed_out;
    output.exit_code = 124;
  } else if (WIFSIGNALED(status)) {
    output.outcome = Outcome::signalled;
    output.signal = WTERMSIG(status);
    output.exit_code = 128 + output.signal;
  } else {
    output.exit_code = WEXITSTATUS(status);
  }
}

}  // namespace

Result<ExecOutput> exec_on_host(const Command& command, const Path& directory,
                                std::chrono::milliseconds timeout, std::uint64_t output_limit,
                                const ExecHooks& hooks) {
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  const auto started = std::chrono::steady_clock::now();
  run::KeptCommand kept = TRY(start(command, directory, pipes));
  run::CapturedStreams streams(std::move(pipes), output_limit, hooks.arrived);
  TRY(streams.join(*loop));
  const run::Ending ending =
      TRY(run::supervise(*loop, kept.pidfd(), [&kept] { kept.end(); },
                         {.deadline = run::deadline_after(timeout), .cancel_fd = hooks.cancel_fd}));
  const run::KeptCommand::End end = TRY(kept.wait());
  ExecOutput done;
  streams.finish(done);
  set_outcome(done, end.status, ending);
  done.ended_background = end.others && ending == run::Ending::by_itself;
  done.usage.wall = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - started);
  return done;
}

}  // namespace coop::tools
