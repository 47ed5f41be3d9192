#include "tools/shell/host_exec.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "host/environment.h"
#include "run/output/capture.h"
#include "run/supervise.h"
#include "sys/fd.h"

namespace coop::tools {

namespace {

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A group of its own, so that a timeout reaches what it started.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> variables = host::read_environment();
  for (const auto& [name, value] : command.environment) variables[name] = value;
  std::vector<std::string> words;
  words.reserve(variables.size());
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  return words;
}

Result<pid_t> start(const Command& command, const Path& directory, const run::CapturePipes& pipes) {
  SpawnActions actions;
  const SpawnAttributes attributes;
  // Both are names without links. One that is there now was put there since, and leads elsewhere.
  const Path where = command.directory.value_or(directory);
  const UniqueFd root = TRY(open_file("/", O_PATH | O_DIRECTORY));
  const Path below(relative_to(where, "/"));
  const UniqueFd start =
      TRY(open_beneath(root.get(), below.empty() ? "." : below, O_RDONLY | O_DIRECTORY));
  ::posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipes.output.write.get(), 1);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipes.error.write.get(), 2);
  ::posix_spawn_file_actions_addfchdir_np(actions.get(), start.get());
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, arguments.front().c_str(), actions.get(), attributes.get(),
                     pointers(arguments).data(), pointers(environment).data());
  if (error != 0) return system_error_of(error, "spawn", command.arguments.front());
  return child;
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

Result<run::Ending> wait_for(EventLoop& loop, pid_t child, run::CapturedStreams& streams,
                             const run::Supervision& supervision) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!pidfd.valid()) return system_error("pidfd_open");
  TRY(streams.join(loop));
  return run::supervise(loop, pidfd.get(), [child] { ::kill(-child, SIGKILL); }, supervision);
}

}  // namespace

Result<ExecOutput> exec_on_host(const Command& command, const Path& directory,
                                std::chrono::milliseconds timeout, std::uint64_t output_limit,
                                const ExecHooks& hooks) {
  run::CapturePipes pipes = TRY(run::CapturePipes::make());
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  const auto started = std::chrono::steady_clock::now();
  const pid_t child = TRY(start(command, directory, pipes));
  run::CapturedStreams streams(std::move(pipes), output_limit, hooks.arrived);
  const Result<run::Ending> ending =
      wait_for(*loop, child, streams,
               {.deadline = run::deadline_after(timeout), .cancel_fd = hooks.cancel_fd});
  ::kill(-child, SIGKILL);  // what it left behind; its number is not free before we have waited
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  TRY(ending);
  ExecOutput done;
  streams.finish(done);
  set_outcome(done, status, *ending);
  done.usage.wall = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - started);
  return done;
}

}  // namespace coop::tools
