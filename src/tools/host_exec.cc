#include "tools/host_exec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "host/environment.h"
#include "run/capture.h"

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
  const Path where = command.directory.value_or(directory);
  ::posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipes.output.write.get(), 1);
  ::posix_spawn_file_actions_adddup2(actions.get(), pipes.error.write.get(), 2);
  ::posix_spawn_file_actions_addchdir_np(actions.get(), where.c_str());
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, arguments.front().c_str(), actions.get(), attributes.get(),
                     pointers(arguments).data(), pointers(environment).data());
  if (error != 0) return system_error_of(error, "spawn", command.arguments.front());
  return child;
}

void drain(pollfd& stream, run::BoundedText& text, Stream which, const ExecHooks& hooks) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(stream.fd, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    stream.fd = -1;
    return;
  }
  const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
  text.append(piece);
  if (hooks.arrived) hooks.arrived(which, piece);
}

void conclude(ExecOutput& output, int status, bool timed_out) {
  if (timed_out) {
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
  const auto started = std::chrono::steady_clock::now();
  const pid_t child = TRY(start(command, directory, pipes));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pipes.output.write.reset();
  pipes.error.write.reset();
  run::BoundedText output(output_limit);
  run::BoundedText error(output_limit);
  pollfd watched[4] = {{pipes.output.read.get(), POLLIN, 0},
                       {pipes.error.read.get(), POLLIN, 0},
                       {pidfd.get(), POLLIN, 0},
                       {hooks.cancel_fd, POLLIN, 0}};
  bool timed_out = false;
  const run::Deadline deadline = run::deadline_after(timeout);
  while (watched[2].fd >= 0) {
    const int count = ::poll(watched, 4, run::remaining(deadline));
    if (count < 0) continue;  // a signal
    timed_out = timed_out || count == 0;
    if (count == 0 || watched[3].revents != 0) {
      ::kill(-child, SIGKILL);
      break;
    }
    if (watched[0].revents != 0) drain(watched[0], output, Stream::output, hooks);
    if (watched[1].revents != 0) drain(watched[1], error, Stream::error, hooks);
    if (watched[2].revents != 0) watched[2].fd = -1;
  }
  ::kill(-child, SIGKILL);  // what it left behind; its number is not free before we have waited
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  while (watched[0].fd >= 0 && ::poll(&watched[0], 1, 0) > 0)
    drain(watched[0], output, Stream::output, hooks);
  while (watched[1].fd >= 0 && ::poll(&watched[1], 1, 0) > 0)
    drain(watched[1], error, Stream::error, hooks);
  ExecOutput done;
  conclude(done, status, timed_out);
  done.standard_output = std::move(output).take();
  done.standard_error = std::move(error).take();
  done.usage.wall = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - started);
  return done;
}

}  // namespace coop::tools
