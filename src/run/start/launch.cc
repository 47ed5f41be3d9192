#include "run/start/launch.h"

#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/path.h"
#include "host/probe.h"
#include "plan/show/steps.h"
#include "run/lost_files.h"
#include "run/mount_watch.h"
#include "run/start/shared_tmp.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop::run {

namespace {

// Without the network: the child creates that itself, parallel to planning.
std::uint64_t clone_flags(const Plan& plan) {
  static constexpr std::array kFlags{std::pair{"user", std::uint64_t{CLONE_NEWUSER}},
                                     std::pair{"mount", std::uint64_t{CLONE_NEWNS}},
                                     std::pair{"pid", std::uint64_t{CLONE_NEWPID}},
                                     std::pair{"ipc", std::uint64_t{CLONE_NEWIPC}},
                                     std::pair{"uts", std::uint64_t{CLONE_NEWUTS}},
                                     std::pair{"cgroup", std::uint64_t{CLONE_NEWCGROUP}}};
  std::uint64_t flags = 0;
  for (const std::string& name : plan.namespaces)
    for (const auto& [known, flag] : kFlags)
      if (name == known) flags |= flag;
  return flags;
}

Error clone_error(int errno_value) {
  Error error{.kind = Error::Kind::system, .errno_value = errno_value, .operation = "clone3"};
  const Feature reason = host::explain_user_namespaces(errno_value);
  if (!reason.reason.empty())
    error.context.push_back("new namespaces are refused: " + reason.reason);
  error.hint = reason.fix.empty() ? "`coop status` shows what this machine offers" : reason.fix;
  return error;
}

// Sorted and unique, as needed for close_range.
std::vector<int> kept(const Stdio& stdio, std::initializer_list<int> sockets) {
  std::set<int> fds{stdio.input, stdio.output, stdio.error};
  fds.insert(sockets);
  std::erase_if(fds, [](int fd) { return fd < 0; });
  return {fds.begin(), fds.end()};
}

// Where the kernel reads this process's command line: the consecutive strings of argv.
struct CommandLine {
  char* begin = nullptr;
  char* end = nullptr;
} command_line;

// Constructors get the arguments of main(), also in a shared library.
[[gnu::constructor]] void remember_command_line(int count, char** words, char**) {
  if (count < 1 || words == nullptr || words[0] == nullptr) return;
  command_line = {words[0], words[count - 1] + std::strlen(words[count - 1]) + 1};
}

// A running supervisor should act first: it has the output so far.
std::int64_t lifetime_for(const LaunchOptions& options) {
  constexpr std::chrono::milliseconds kLate{100};
  constexpr std::chrono::milliseconds kMost = std::chrono::years(100);
  if (!options.timeout) return child::kEndless;
  return (std::clamp(*options.timeout, std::chrono::milliseconds(0), kMost) + kLate).count();
}

// The stack's upper end, for the few calls between waking and exec.
Result<void*> allocate_stack(Region& region) {
  constexpr std::size_t kSize = 32768;
  auto* const stack = static_cast<std::byte*>(region.allocate(kSize));
  if (stack == nullptr) return system_error_of(E2BIG, "freeze", "the plan");
  return stack + kSize;
}

}  // namespace

// A directory as standard input would be an escape: openat(0, "etc/shadow") starts at the
// descriptor, not in the sandbox's view.
Result<void> check_stdio(const Stdio& stdio) {
  for (const int fd : {stdio.input, stdio.output, stdio.error}) {
    struct stat status{};
    if (fd < 0) continue;
    if (::fstat(fd, &status) < 0) return system_error("fstat", "descriptor " + std::to_string(fd));
    if (S_ISDIR(status.st_mode))
      return invalid(
          "standard streams", "descriptor " + std::to_string(fd) + " is a directory of the host",
          "a directory descriptor leads out of the sandbox; give a file, pipe or terminal");
  }
  return {};
}

Result<child::Workload> freeze_workload(const Plan& plan, const Command& command,
                                        const Stdio& stdio, Region& region) {
  const Invocation invocation = invocation_for(plan, command);
  child::Workload workload;
  workload.candidates = TRY(freeze_list(invocation.candidates, region));
  workload.arguments = TRY(freeze_list(invocation.arguments, region));
  workload.environment = TRY(freeze_list(invocation.environment, region));
  workload.directory = region.copy(invocation.directory);
  const std::array fds{stdio.input, stdio.output, stdio.error};
  std::ranges::copy(fds, workload.stdio);
  return workload;
}

Result<Launch> Launch::begin(const Plan& early, const LaunchOptions& options, Group& group) {
  TRY(check_stdio(options.stdio));
  Launch launch;
  launch.options_ = options;
  launch.early_steps_ = early.steps.size();
  launch.region_ = TRY(Region::make());
  auto [ours, theirs] = TRY(make_socket_pair());
  UniqueFd request;
  if (options.prepared) {
    auto [send, receive] = TRY(make_socket_pair());
    launch.launched_.request = std::move(send);
    request = std::move(receive);
  }
  UniqueFd network;
  if (early.network.needs_service()) {
    auto [receive, send] = TRY(make_socket_pair());
    launch.network_ = std::move(receive);
    network = std::move(send);
  }
  UniqueFd files;
  if (options.serves_files) {
    auto [receive, send] = TRY(make_socket_pair());
    launch.files_ = std::move(receive);
    files = std::move(send);
  }
  auto [calls, their_calls] = TRY(make_socket_pair());
  launch.calls_ = std::move(calls);
  if (options.shared_tmp != nullptr) launch.shared_tmp_ = TRY(options.shared_tmp->copy());
  const std::span<const child::Instruction> instructions = TRY(freeze(
      early, {.groups = group.to_join(), .await_scope = group.needs_move()}, launch.region_));
  const std::vector<int> keep =
      kept(options.stdio, {theirs.get(), request.get(), network.get(), files.get(),
                           their_calls.get(), launch.shared_tmp_.get()});
  launch.program_.control = theirs.get();
  launch.program_.request = request.get();
  launch.program_.network = network.get();
  launch.program_.files = files.get();
  launch.program_.calls = their_calls.get();
  child::Program program = launch.program_;
  program.instructions = instructions.data();
  program.count = static_cast<std::uint32_t>(instructions.size());
  program.continues = true;
  program.keep = keep.data();
  program.keep_count = static_cast<std::uint32_t>(keep.size());

  int pidfd = -1;
  const long pid = child::start_sandbox(
      program, {.flags = clone_flags(early), .pidfd = &pidfd, .cgroup = group.clone_target()});
  if (pid < 0) return std::unexpected(clone_error(static_cast<int>(-pid)));
  launch.launched_.pidfd.reset(pidfd);
  launch.launched_.pid = static_cast<int>(pid);
  launch.launched_.control = std::move(ours);
  launch.pid_ = static_cast<int>(pid);
  if (group.needs_move()) {
    TRY(with_context("joining the control group", group.move(static_cast<int>(pid))));
    TRY(send_message(launch.launched_.control.get(), "g", 1));
  }
  return launch;
}

Result<Launched> Launch::complete(const Plan& plan, const Command* command) && {
  auto* program = static_cast<child::Program*>(region_.allocate(sizeof(child::Program)));
  if (program == nullptr) return system_error_of(E2BIG, "freeze", "the plan");
  // For mounts that are lost, and for the look at the end.
  const bool looked_at = !MountWatch::guards_of(plan).empty() || has_own_home(plan);
  const std::span<const child::Instruction> instructions =
      TRY(freeze(plan,
                 {.terminal = options_.terminal,
                  .pass_root = options_.pass_root || looked_at,
                  .pass_mounts = looked_at,
                  .hold_trees = options_.hold_trees,
                  .groups = std::move(groups_),
                  .shared_tmp = shared_tmp_.get(),
                  .first_step = early_steps_},
                 region_));
  *program = program_;
  program->instructions = instructions.data();
  program->count = static_cast<std::uint32_t>(instructions.size());
  program->makes_sockets = !plan.network.publish.empty();
  program->die_with_parent = options_.parent_death == ParentDeath::signalled;
  program->lifetime = lifetime_for(options_);
  program->open_files = plan.limits.open_files.value_or(0);
  program->command_line = command_line.begin;
  program->command_line_size = static_cast<std::uint64_t>(command_line.end - command_line.begin);
  if (options_.prepared) program->workload_stack = TRY(allocate_stack(region_));
  if (command != nullptr)
    program->workload = TRY(freeze_workload(plan, *command, options_.stdio, region_));
  // An error here means that the child has died; its report is read later.
  const child::Rest rest{program};
  [[maybe_unused]] const Result<void> ignored =
      send_message(launched_.control.get(), &rest, sizeof rest);
  launched_.region = std::move(region_);
  return std::move(launched_);
}

Launch::~Launch() {
  if (!launched_.pidfd.valid()) return;
  kill_at_once(launched_.pidfd.get());
  collect(launched_.pidfd.get());
}

namespace {

// `coop plan` has the full text.
std::string shortened(std::string sentence) {
  constexpr std::size_t kMost = 300;
  if (sentence.size() <= kMost) return sentence;
  sentence.resize(kMost);
  return sentence.substr(0, sentence.rfind(' ')) + " …";
}

}  // namespace

Error setup_error(const Plan& plan, const child::Report& report) {
  Error error{.kind = Error::Kind::system, .errno_value = report.error};
  error.context.push_back("starting the sandbox");
  if (report.step == child::kForkStep) {
    error.operation = "fork the command";
    if (report.error == EAGAIN) error.hint = "the limit on processes is too low: raise --pids";
    return error;
  }
  if (report.step == child::kGroupStep) {
    error.operation = "join the control group";
    return error;
  }
  error.context.push_back("step " + std::to_string(report.step + 1) + " of " +
                          std::to_string(plan.steps.size()));
  if (report.step < plan.steps.size()) {
    const Step& step = plan.steps[report.step];
    error.operation = shortened(plan::sentence(step.action));
    error.hint = plan::hint_for(step, report.error);
    const bool refused = report.error == EPERM || report.error == EACCES || report.error == ENOSYS;
    if (error.hint.empty() && refused)
      error.hint = "`coop status` tries what a start needs, and names what helps";
  }
  return error;
}

}  // namespace coop::run
