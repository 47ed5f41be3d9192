#include "support/harness.h"
#include <nlohmann/json.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace coop::tests {
namespace {

std::string try_user_namespace() {
  const pid_t child = ::fork();
  if (child < 0) return "fork failed";
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return std::string("no user namespaces here: ") + std::strerror(WEXITSTATUS(status));
}

// The last line that is a verdict; earlier output of the program does not count.
std::string verdict_of(const Ran& ran) {
  std::string verdict;
  std::size_t start = 0;
  while (start < ran.out.size()) {
    std::size_t end = ran.out.find('\n', start);
    if (end == std::string::npos) end = ran.out.size();
    const std::string line = ran.out.substr(start, end - start);
    if (line.starts_with("ESCAPED") || line.starts_with("BLOCKED")) verdict = line;
    start = end + 1;
  }
  return verdict;
}

testing::AssertionResult unexpected(const Ran& ran, const std::string& wanted) {
  return testing::AssertionFailure() << "wanted " << wanted << ", got exit " << ran.exit_code
                                     << "\nstdout: " << ran.out << "\nstderr: " << ran.err;
}

Arguments payload_command(const Arguments& attack) {
  Arguments command{"./payload"};
  command.insert(command.end(), attack.begin(), attack.end());
  return command;
}

}  // namespace

const std::string& why_no_sandbox() {
  static const std::string reason = try_user_namespace();
  return reason;
}

bool must_run() {
  const char* value = std::getenv("COOP_TESTS_MUST_RUN");
  return value != nullptr && std::string_view(value) == "1";
}

bool is_root() { return ::geteuid() == 0; }

Workspace::Workspace(std::string_view parent) : around_(parent), path_(around_ / "workspace") {
  make_directories(path_);
  copy_program(payload_binary(), path_ + "/payload");
}

RunOptions Workspace::options() const {
  return {.environment = {{"HOME", around_.path()}, {"XDG_STATE_HOME", around_ / "state"}},
          .directory = path_};
}

Ran Workspace::outside(const Arguments& attack, RunOptions options) const {
  if (options.directory.empty()) options.directory = path_;
  return run_bare(payload_command(attack), options);
}

Ran Workspace::outside_with_capabilities(const Arguments& attack, RunOptions options) const {
  if (options.directory.empty()) options.directory = path_;
  Arguments command{"unshare", "--user", "--map-root-user", "--mount", "--net", "--uts"};
  const Arguments payload = payload_command(attack);
  command.insert(command.end(), payload.begin(), payload.end());
  return run_bare(command, options);
}

Ran Workspace::inside(const Arguments& attack, const Arguments& flags, RunOptions options) const {
  return run(payload_command(attack), flags, std::move(options));
}

Ran Workspace::run(const Arguments& command, const Arguments& flags, RunOptions options) const {
  if (options.directory.empty()) options.directory = path_;
  Arguments arguments{"run", "-w", path_};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.push_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  return run_coop(arguments, options);
}

testing::AssertionResult escaped(const Ran& ran) {
  if (ran.exit_code == 0 && verdict_of(ran).starts_with("ESCAPED"))
    return testing::AssertionSuccess();
  return unexpected(ran, "ESCAPED");
}

testing::AssertionResult blocked(const Ran& ran, std::initializer_list<int> errors) {
  std::string wanted;
  for (const int error : errors) {
    const std::string verdict = "BLOCKED " + std::to_string(error) + " ";
    if (ran.exit_code == 1 && verdict_of(ran).starts_with(verdict))
      return testing::AssertionSuccess();
    wanted += (wanted.empty() ? "" : " or ") + verdict + ::strerrorname_np(error);
  }
  return unexpected(ran, wanted);
}

testing::AssertionResult blocked(const Ran& ran, int error) { return blocked(ran, {error}); }

testing::AssertionResult killed_by_filter(const Ran& ran) {
  if (ran.exit_code == 128 + SIGSYS && verdict_of(ran).empty()) return testing::AssertionSuccess();
  return unexpected(ran, "exit 159 (SIGSYS)");
}

testing::AssertionResult sandboxed(const Workspace& workspace) {
  const Ran control = workspace.outside({"status", "Seccomp", "0"});
  if (!escaped(control)) return unexpected(control, "no filter outside");
  return escaped(workspace.inside({"status", "Seccomp", "2"}));
}

nlohmann::json json_of(const Ran& ran) {
  nlohmann::json parsed = nlohmann::json::parse(ran.out, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object()) return parsed;
  ADD_FAILURE() << "not a JSON object: " << ran.out << "\nstderr: " << ran.err;
  return {};
}

Victim::Victim() : pid_(::fork()) {
  if (pid_ < 0) std::abort();
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // Yama: the control needs it
  for (;;) ::pause();
}

Victim::~Victim() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Victim::stop() const {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  ::waitpid(pid_, &status, WUNTRACED);
}

bool Victim::stopped() const {
  // The state follows the name's closing parenthesis.
  const std::string line = read_file("/proc/" + pid() + "/stat");
  return line.find(") T ") != std::string::npos;
}

Racer::Racer(std::function<void()> swap)
    : thread_([swap = std::move(swap)](const std::stop_token& stop) {
        while (!stop.stop_requested()) swap();
      }) {}

}  // namespace coop::tests
