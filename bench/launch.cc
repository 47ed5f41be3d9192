#include "launch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/path.h"
#include "statistics.h"

namespace coop::bench {

namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The same for every contender and every caller.
const char* const kEnvironment[] = {kPath, "HOME=/", "LANG=C.UTF-8", "TMPDIR=/tmp", nullptr};

Error failure(const std::string& name, const std::string& what) {
  return Error{.kind = Error::Kind::unsupported, .operation = name, .subject = what};
}

// A program's error on one line: the last one, which usually has the reason.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t at = text.rfind('\n');
  return printable(at == std::string::npos ? text : text.substr(at + 1));
}

}  // namespace

void Program::DestroyActions::operator()(posix_spawn_file_actions_t* actions) const {
  ::posix_spawn_file_actions_destroy(actions);
  delete actions;
}

Result<Program::Actions> Program::actions_for(int output) const {
  auto plain = std::make_unique<posix_spawn_file_actions_t>();
  int error = ::posix_spawn_file_actions_init(plain.get());
  if (error != 0) return system_error_of(error, "posix_spawn_file_actions_init");
  Actions actions(plain.release());
  const auto add = [&](int result) { error = error != 0 ? error : result; };
  add(::posix_spawn_file_actions_adddup2(actions.get(), null_.get(), 0));
  add(::posix_spawn_file_actions_adddup2(actions.get(), output, 1));
  add(::posix_spawn_file_actions_adddup2(actions.get(), output, 2));
  if (!launch_->directory.empty())
    add(::posix_spawn_file_actions_addchdir_np(actions.get(), launch_->directory.c_str()));
  for (const OpenFile& file : launch_->files)
    add(::posix_spawn_file_actions_addopen(actions.get(), file.descriptor, file.path.c_str(),
                                           O_RDONLY, 0));
  if (error != 0) return system_error_of(error, "preparing the start", launch_->arguments.front());
  return actions;
}

Result<Program> Program::prepare(Launch launch) {
  Program program;
  program.launch_ = std::make_unique<Launch>(std::move(launch));
  for (std::string& word : program.launch_->arguments) program.words_.push_back(word.data());
  program.words_.push_back(nullptr);
  program.null_ = TRY(open_file("/dev/null", O_RDWR));
  program.actions_ = TRY(program.actions_for(program.null_.get()));
  return program;
}

Result<pid_t> Program::spawn(const Actions& actions) const {
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, words_.front(), actions.get(), nullptr, words_.data(),
                                  const_cast<char* const*>(kEnvironment));
  if (error != 0) return system_error_of(error, "posix_spawn", launch_->arguments.front());
  return pid;
}

Result<pid_t> Program::start() const { return spawn(actions_); }

Result<double> Program::time() const {
  const Clock::time_point start = Clock::now();
  const pid_t pid = TRY(spawn(actions_));
  TRY(wait_for(pid, launch_->arguments.front()));
  return microseconds_since(start);
}

Result<std::string> Program::rehearse() const {
  const UniqueFd output(::memfd_create("output", MFD_CLOEXEC));
  if (!output.valid()) return system_error("memfd_create");
  const Actions actions = TRY(actions_for(output.get()));
  const pid_t pid = TRY(spawn(actions));
  Result<void> ended = wait_for(pid, launch_->arguments.front());
  ::lseek(output.get(), 0, SEEK_SET);
  std::string said = TRY(read_all(output.get(), "what the program wrote"));
  if (!ended && !said.empty()) ended.error().subject = last_line(std::move(said));
  if (!ended) return std::unexpected(std::move(ended).error());
  return said;
}

Result<Path> find_program(const std::string& name) {
  constexpr std::array kDirectories{"/usr/local/bin",  "/usr/bin",  "/bin",
                                    "/usr/local/sbin", "/usr/sbin", "/sbin"};
  for (const char* directory : kDirectories) {
    Path path = join(directory, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::unexpected(failure(name, "not installed"));
}

Result<void> wait_for(pid_t pid, const std::string& name) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return system_error("waitpid", name);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                            : "killed by " + signal_text(WTERMSIG(status));
  return std::unexpected(failure(std::string(name_of(name)), how));
}

}  // namespace coop::bench
