#include "run/sandbox_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "guards/git/checkout.h"
#include "guards/git/directory.h"
#include "guards/git/judge.h"
#include "guards/git/outside.h"
#include "guards/quarantine.h"
#include "guards/records/made_inside.h"
#include "host/files/kept_homes.h"
#include "host/probe.h"
#include "plan/compile.h"
#include "policy/builtin.h"
#include "policy/merge/bounded.h"
#include "policy/variables.h"
#include "run/lost_files.h"
#include "run/start/home_order.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop::run {

namespace {

using std::chrono::microseconds;

Cleanup cleanup_for(const Sandbox::State& state) {
  const Prepared& prepared = state.prepared;
  return {.groups = group_directories(prepared.plan.group),
          .guards = prepared.plan.guards,
          .before = prepared.before,
          .versions = state.versions,
          .quarantine = prepared.quarantine,
          .indexes = prepared.indexes,
          .record = state.record.path(),
          .doubtful = state.doubtful,
          .abandoned = state.record.made_by_others(),
          .gaps = state.gaps,
          .git_user = prepared.git_user,
          .mounts = prepared.mounts,
          .touched = state.files ? state.files->touched() : guards::Touched{}};
}

std::vector<int> numbers_of(const std::vector<UniqueFd>& descriptors) {
  std::vector<int> numbers;
  numbers.reserve(descriptors.size());
  for (const UniqueFd& descriptor : descriptors) numbers.push_back(descriptor.get());
  return numbers;
}

void set_signal(ExecOutput& output, int signal) {
  output.outcome = signal == SIGSYS ? Outcome::violation : Outcome::signalled;
  output.signal = signal;
  output.exit_code = 128 + signal;
  if (signal == SIGSYS)
    output.denials.push_back(
        Denial{.reason = Denial::Reason::system_call,
               .what = "a system call of a foreign architecture or calling convention",
               .rule = Rule::of_coop(Part::system_calls),
               .hint = "use a native program; there is no grant for this"});
}

// Why execve() fails with it, in the words of a user.
std::string_view cause_of(int error) {
  switch (error) {
    case EACCES: return ": it is a directory, or needs chmod +x";
    case ENOEXEC: return ": it has no #! line, or is for another architecture";
    default: return "";
  }
}

void set_outcome(ExecOutput& output, const Sandbox::State& state, Ending ending) {
  if (ending == Ending::timed_out) {
    output.outcome = Outcome::timed_out;
    output.exit_code = 124;
  } else if (state.ended && state.ended->event == child::Event::exec_failed) {
    const int error = state.ended->error;
    const bool missing = error == ENOENT || error == ENOTDIR;
    output.outcome = missing ? Outcome::not_found : Outcome::not_executable;
    output.exit_code = missing ? 127 : 126;
    if (!missing)
      output.notes.push_back(in_quotes(state.program) + " cannot be executed: " +
                             errno_text(error) + std::string(cause_of(error)));
  } else if (state.ended && WIFEXITED(state.ended->status)) {
    output.exit_code = WEXITSTATUS(state.ended->status);
  } else if (state.ended) {
    set_signal(output, WTERMSIG(state.ended->status));
  } else {
    set_signal(output, SIGKILL);  // init itself was killed, from outside
  }
  const bool killed = state.group.out_of_memory_kills() > 0 || state.over_memory;
  if (!killed || ending != Ending::by_itself) return;
  output.denials.push_back(
      Denial{.reason = Denial::Reason::memory_limit,
             .what = "memory beyond the limit",
             .rule = Rule{origin_of(state.prepared.policy, "memory", "--memory")},
             .hint = "--memory with a larger size"});
  if (output.exit_code != 0) output.outcome = Outcome::out_of_memory;
  else output.notes.emplace_back("processes were killed for memory beyond the limit (--memory)");
}

void set_usage(ExecOutput& output, const Sandbox::State& state) {
  output.usage.wall =
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - state.started);
  if (!state.ended) return;
  output.usage.user_cpu = microseconds(state.ended->user_microseconds);
  output.usage.system_cpu = microseconds(state.ended->system_microseconds);
  output.usage.peak_memory = state.group.peak_memory().value_or(
      static_cast<std::uint64_t>(state.ended->peak_kilobytes) * 1024);
}

void tell_refusal(ExecOutput& output, const std::string& guard, const Path& path,
                  std::string_view what) {
  output.denials.push_back(Denial{.reason = Denial::Reason::guard,
                                  .what = "changing " + path,
                                  .rule = Rule::of_coop(Part::guard, guard),
                                  .grant = Grant{"--allow-guarded", guard}});
  output.notes.push_back("changing " + printable(path) + std::string(what) +
                         ": it is guarded; to allow it: --allow-guarded " + guard);
}

// A program inside only sees EROFS, or EBUSY where a mount guards the file.
void tell_refusals(ExecOutput& output, const Sandbox::State& state) {
  if (state.files)
    for (const auto& [guard, refusal] : state.files->refusals())
      tell_refusal(output, guard, refusal.path,
                   refusal.count > 1 ? " was refused (and more like it)" : " was refused");
  if (!state.locks) return;
  state.locks->read_events();
  for (const auto& [guard, path] : state.locks->given_up())
    tell_refusal(output, guard, path, " was tried and given up");
}

// In the minimal view `git worktree add` writes paths that the host does not have; to allow these files would not help.
void explain_pointer(Quarantined& moved, const Sandbox::State& state) {
  const Prepared& prepared = state.prepared;
  const Path& inside = prepared.plan.workspace;
  const bool checkout = guards::is_checkout_pointer(moved.guard);
  if ((moved.guard != ".git" && !checkout) || inside == prepared.policy.workspace) return;
  const std::optional<std::string> text = guards::read_small(AT_FDCWD, moved.moved_to);
  const std::optional<std::string> pointer = !text      ? std::nullopt
                                             : checkout ? guards::parse_pointer(*text)
                                                        : guards::parse_gitfile(*text);
  if (pointer && is_within(*pointer, inside))
    moved.problem = "it leads to " + printable(*pointer) +
                    ", which exists only inside; with --view host paths are the host's";
}

void take_away(ExecOutput& output, const Sandbox::State& state) {
  const GuardPlan& guards = state.prepared.plan.guards;
  if (guards.roots.empty()) return;
  const std::vector<int> trees = numbers_of(state.trees);
  // In this order: of two runs that end at once, one judges what both doubt.
  state.record.end();
  Cleanup cleanup = cleanup_for(state);
  cleanup.abandoned = state.record.left_to_judge();
  const std::vector<guards::InsideTree> inside = inside_trees(state);
  guards::QuarantineReport report =
      last_look(std::move(cleanup),
                {{state.mounts.valid() ? state.root.get() : -1, inside}, trees, state.watch});
  for (Quarantined& moved : report.moved) explain_pointer(moved, state);
  for (const Quarantined& moved : report.moved)
    output.denials.push_back(Denial{.reason = Denial::Reason::guard,
                                    .what = "creating " + moved.path,
                                    .rule = Rule::of_coop(Part::guard, moved.guard),
                                    .problem = moved.problem,
                                    .grant = Grant{"--allow-guarded", moved.guard}});
  output.quarantined = std::move(report.moved);
  output.quarantined_total = report.total;
  for (std::string& note : report.notes) output.notes.push_back(std::move(note));
  if (report.complete) {
    // Without the record they are guarded like the user's own.
    [[maybe_unused]] const Result<void> may_fail = guards::remember_made(
        state.prepared.made_inside, guards.names, state.prepared.before, report.git, guards.roots);
    return;
  }
  output.outcome = Outcome::guards_incomplete;
  output.exit_code = 125;
}

}  // namespace

namespace {

// On the clock of the file system.
std::int64_t begun(const Sandbox::State& state) {
  const auto lasted = std::chrono::steady_clock::now() - state.started;
  return std::chrono::duration_cast<std::chrono::seconds>(
             (std::chrono::system_clock::now() - lasted).time_since_epoch())
      .count();
}

}  // namespace

std::vector<guards::InsideTree> inside_trees(const Sandbox::State& state) {
  const std::vector<Path> places = trees_below_homes(state.prepared.plan);
  std::vector<guards::InsideTree> trees;
  for (std::size_t index = 0; index < std::min(places.size(), state.inside.size()); ++index)
    trees.push_back({places[index], state.inside[index].get()});
  return trees;
}

Result<void> check_command(const Command& command, const Policy& policy) {
  if (command.arguments.empty()) return invalid("command", "there is no command to run");
  const auto has_zero = [](const std::string& text) {
    return text.find('\0') != std::string::npos;
  };
  if (std::ranges::any_of(command.arguments, has_zero))
    return invalid("command", "an argument contains a zero byte", "the kernel would cut it there");
  if (command.directory && (command.directory->empty() || has_zero(*command.directory)))
    return invalid("command directory", "\"" + printable(*command.directory) + "\" is no directory",
                   "leave it out to start in the policy's");
  for (const auto& [name, value] : command.environment) {
    TRY(policy::check_variable(name, "command environment", policy.unsafe_environment));
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name) || has_zero(value))
      return invalid("command environment", printable(name) + " cannot be a variable");
  }
  return policy::check_environment(command.environment, policy.bounds);
}

Result<void> check_owner(const Sandbox::State& state) {
  if (state.owner == ::getpid()) return {};
  return invalid("sandbox", "it belongs to the process that this one was forked from",
                 "start sandboxes of your own after fork()");
}

namespace {

// The descriptors come from the child, before or after the janitor is there.
Result<void> entrust_view(const Sandbox::State& state) {
  if (!state.charge.given() || !state.root.valid() || !state.mounts.valid()) return {};
  // By a path that what runs inside can rename, the janitor would look at the wrong files. Without the view it knows less.
  if (!state.inside.empty()) return {};
  return state.charge.watch_view(state.root.get(), state.mounts.get());
}

Result<void> entrust_trees(const Sandbox::State& state) {
  for (const UniqueFd& tree : state.trees) TRY(state.charge.hold_tree(tree.get()));
  return {};
}

Result<void> call_janitor(Sandbox::State& state) {
  if (state.prepared.plan.guards.roots.empty()) return {};
  state.charge = TRY(Charge::give(cleanup_for(state), state.launched.pidfd.get()));
  TRY(entrust_trees(state));
  if (state.has_command) TRY(begin_charge(state));
  return entrust_view(state);
}

// Before the child mounts them. One that cannot be opened ends the list: it is in the order of the roots.
void open_trees(Sandbox::State& state) {
  for (const Path& root : state.prepared.plan.guards.roots) {
    Result<UniqueFd> tree = open_file(root, O_PATH | O_NOFOLLOW);
    if (!tree) return;
    state.trees.push_back(std::move(*tree));
  }
}

// After the clone: the child must not inherit the raised limit.
void raise_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<Launch> begin_launch(Sandbox::State& state, const Plan& early,
                            const LaunchOptions& options) {
  if (early.network.needs_service()) {
    state.network = TRY(Network::make(early.network));
    state.network->set_hook(options.network);
  }
  Launch launch = TRY(Launch::begin(early, options, state.group));
  if (!state.network) return launch;
  if (options.raise_descriptors) raise_descriptors();
  TRY(state.network->start(launch.take_network(), launch.pid(), launch.pidfd()));
  return launch;
}

// The file service holds a descriptor for each file that the kernel knows.
Result<void> complete_launch(Sandbox::State& state, Launch launch, const Command* command,
                             const LaunchOptions& options) {
  const Prepared& prepared = state.prepared;
  if (options.raise_descriptors && !prepared.plan.guards.served.empty()) raise_descriptors();
  state.files = TRY(FileService::start(prepared.plan, prepared.before, launch.take_files()));
  state.calls = Dispatcher(launch.take_calls());
  if (command != nullptr && mentions_git(*command)) watch_locks(state);
  state.launched = TRY(std::move(launch).complete(prepared.plan, command));
  return {};
}

// The janitor comes first: at no moment may a group exist that would never be removed.
Result<void> make_group(Sandbox::State& state, Launch& launch) {
  state.charge = TRY(Charge::give(cleanup_for(state), launch.pidfd()));
  TRY(entrust_trees(state));
  if (state.has_command) TRY(begin_charge(state));
  state.group =
      TRY(with_context("making the control group", Group::make(state.prepared.plan.group)));
  launch.join(state.group);
  return {};
}

// As make_group(), and the group comes before the child, which is cloned into it.
Result<void> start_in_group(Sandbox::State& state, Draft draft, const Plan& early,
                            const Command* command, const LaunchOptions& options) {
  TRY(gather(draft));
  std::optional<Draft> without;
  if (draft.host.cgroup.kind == CgroupKind::scope) without = draft;
  state.prepared = TRY(compile(std::move(draft)));
  TRY(keep_versions(state));
  open_trees(state);
  state.charge = TRY(Charge::give(cleanup_for(state)));
  TRY(entrust_trees(state));
  if (state.has_command) TRY(begin_charge(state));
  Result<Group> group = Group::make(state.prepared.plan.group);
  if (!group && without) {
    // The plan says then what is weaker, or refuses it.
    without->host.cgroup = {.reason =
                                "systemd's user manager made no scope: " + to_text(group.error())};
    state.prepared = TRY(compile(*std::move(without)));
    group = Group();
  }
  state.group = TRY(with_context("making the control group", std::move(group)));
  Launch launch = TRY(begin_launch(state, early, options));
  TRY(complete_launch(state, std::move(launch), command, options));
  return state.charge.watch(state.launched.pidfd.get());
}

// The earlier of both; unset means never.
std::optional<std::chrono::milliseconds> within(std::optional<std::chrono::milliseconds> timeout,
                                                std::optional<std::chrono::milliseconds> most) {
  return most && (!timeout || *timeout > *most) ? most : timeout;
}

// The child makes its namespaces while we plan. It joins a group itself, after that; without one the janitor is told
// while the child builds its view, or later.
Result<void> start_at_once(Sandbox::State& state, Draft draft, const Plan& early,
                           const Command* command, const LaunchOptions& options) {
  Launch launch = TRY(begin_launch(state, early, options));
  state.prepared = TRY(finish_prepare(std::move(draft)));
  TRY(keep_versions(state));
  open_trees(state);
  if (!state.prepared.plan.group.limits.empty()) TRY(make_group(state, launch));
  TRY(complete_launch(state, std::move(launch), command, options));
  if (state.charge.given()) return {};
  if (options.defer_janitor) {
    // If the supervisor is killed before that, new guarded files stay where they are.
    state.later = {std::chrono::steady_clock::now() + kGrace, [&] { return call_janitor(state); }};
    return {};
  }
  Result<void> called = call_janitor(state);
  if (!called) {
    kill_all(state);
    collect(state.launched.pidfd.get());
  }
  return called;
}

}  // namespace

// A user without a directory for state that can be written has no records at all: then every guarded path is in doubt, in
// each run (see keep_versions()). Any other failure, as of a full disk, would hide this run from those that follow.
Result<void> enter_record(Sandbox::State& state, const Path& state_directory,
                          const std::string& id) {
  constexpr std::array kNone{EACCES, EROFS, EPERM, ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG};
  Result<guards::RunRecord> record = guards::RunRecord::enter(join(state_directory, "runs"), id);
  if (record) state.record = std::move(*record);
  else if (!contains(kNone, record.error().errno_value))
    return with_context("recording the run for other runs",
                        Result<void>(std::unexpected(record.error())));
  return {};
}

namespace {

// What is put back of the files that are judged by their contents. Reading a large index at every start would cost more than
// it is worth: `git reset` makes a new one.
void add_small_files(const std::vector<WorkspaceFacts>& before, std::vector<Path>& paths) {
  constexpr off_t kLargest = off_t{256} << 10;
  struct stat status{};
  for (const WorkspaceFacts& facts : before)
    for (const GuardedPath& found : facts.guarded)
      if ((guards::is_index(found.guard) || guards::is_checkout_pointer(found.guard)) &&
          found.link.empty() && ::lstat(found.path.c_str(), &status) == 0 &&
          status.st_size <= kLargest)
        paths.push_back(found.path);
}

}  // namespace

// Before the child gets the rest of the plan, or a command: nothing can have written them through a gap yet.
Result<void> keep_versions(Sandbox::State& state) {
  const Prepared& prepared = state.prepared;
  // What is served cannot be written by its own name, but by others in the workspace, or before the host gave it that
  // name. First: the space is bounded.
  std::vector<Path> paths;
  for (const GitDirectory& git : prepared.plan.guards.served)
    for (const WorkspaceFacts& facts : prepared.before)
      for (const GuardedPath& found : facts.guarded)
        if (is_within(found.path, git.path) &&
            policy::guard_kind(found.guard) != policy::GuardKind::contents &&
            (!found.directory || guards::has_other_names(found.path)))
          paths.push_back(found.path);
  const std::vector<Path>& mounted = prepared.plan.guards.mounted;
  paths.insert(paths.end(), mounted.begin(), mounted.end());
  for (const WorkspaceFacts& facts : prepared.before)
    for (const GitDirectory& git : facts.made_inside) paths.push_back(join(git.path, "config"));
  add_small_files(prepared.before, paths);
  state.versions = guards::keep_versions(paths);
  state.doubtful = guards::all_guarded(prepared.before);
  if (state.record.fd() < 0) return {};
  state.doubtful = TRY(with_context("recording the run for other runs",
                                    state.record.tell(prepared.plan.guards.roots, prepared.before,
                                                      state.versions, prepared.plan.guards.names)));
  return {};
}

void watch_locks(Sandbox::State& state) {
  state.locks =
      LockWatch::make(mounted_settings(state.prepared.before, state.prepared.plan.guards.mounted));
}

Result<void> begin_charge(const Sandbox::State& state) {
  if (!state.charge.given()) return {};
  if (state.record.fd() >= 0) TRY(state.charge.hold_record(state.record.fd()));
  return state.charge.begin();
}

Result<void> renew_charge(const Sandbox::State& state) {
  return state.charge.given() ? state.charge.renew(cleanup_for(state)) : Result<void>();
}

Result<std::unique_ptr<Sandbox::State>> start(const Policy& policy, const Command* command,
                                              const LaunchOptions& options) {
  auto state = std::make_unique<Sandbox::State>();
  state->started = std::chrono::steady_clock::now();
  state->has_command = command != nullptr;
  Draft draft = TRY(begin_prepare(policy));
  draft.indexes = Indexes::written;
  draft.watch = options.watch;
  state->watch = options.watch;
  if (options.idle) draft.learning = Learning::yes;
  if (command != nullptr) TRY(check_command(*command, draft.policy));
  // First: it looks at each directory before it makes another one in it.
  if (draft.policy.home.kind == HomeKind::kept)
    state->home = TRY(host::hold_home(draft.host.state_directory, draft.policy.home.name,
                                      draft.policy.workspace));
  TRY(make_directories(std::exchange(draft.missing, {})));
  const Plan early = TRY(plan::begin(draft.policy, draft.host));
  LaunchOptions bounded = options;
  bounded.serves_files = may_serve(draft);
  bounded.shared_tmp = policy.shared_tmp.get();
  if (!options.prepared) bounded.timeout = within(options.timeout, draft.policy.bounds.timeout);
  if (!options.idle && writes(draft))
    TRY(enter_record(*state, draft.host.state_directory, draft.policy.id));
  if (wants_group(draft)) host::inspect_cgroups(draft.host);
  if (wants_group(draft) && draft.host.cgroup.kind != CgroupKind::v1)
    TRY(start_in_group(*state, std::move(draft), early, command, bounded));
  else TRY(start_at_once(*state, std::move(draft), early, command, bounded));
  if (command != nullptr) {
    state->program = command->arguments.front();
    state->directory = directory_of(state->prepared.plan, *command);
  }
  return state;
}

Result<void> serve_calls(Sandbox::State& state) {
  state.calls_thread = TRY(CallService::start(state.calls.take_socket()));
  return {};
}

bool read_report(Sandbox::State& state) {
  child::Report report;
  Received received = receive_message(state.launched.control.get(), &report, sizeof report);
  if (received.size < 0 && errno == EINTR) return true;
  if (received.size != sizeof report) return false;
  switch (report.event) {
    case child::Event::failed: state.failed = report; break;
    case child::Event::terminal: state.terminal = std::move(received.descriptor); break;
    case child::Event::ready: break;
    // Without them the janitor only knows less.
    case child::Event::mounts: state.mounts = std::move(received.descriptor); break;
    case child::Event::tree: state.inside.push_back(std::move(received.descriptor)); break;
    case child::Event::root:
      state.root = std::move(received.descriptor);
      (void)entrust_view(state);
      break;
    case child::Event::stopped:
      if (state.on_stop) state.on_stop(report.status);
      break;
    case child::Event::exited:
      if (!state.ended) state.ended = report;
      break;
    case child::Event::exec_failed: state.ended = report; break;
    case child::Event::timed_out: state.timed_out = true; break;
  }
  return true;
}

void read_last_reports(Sandbox::State& state) {
  while (is_ready(state.launched.control.get()) && read_report(state)) {
  }
}

void kill_all(Sandbox::State& state) { kill_at_once(state.launched.pidfd.get()); }

bool is_alone(const Sandbox::State& state) { return state.ended && state.ended->alone == 1; }

namespace {

bool is_missing_directory(const Sandbox::State& state) {
  return state.ended && state.ended->event == child::Event::exec_failed &&
         state.ended->step == static_cast<std::uint32_t>(child::Failing::directory);
}

Error directory_error(const Sandbox::State& state) {
  return Error{.kind = Error::Kind::system,
               .errno_value = state.ended->error,
               .operation = "change to the working directory inside the sandbox",
               .subject = printable(state.directory),
               .hint = "--chdir takes a path as it is inside; the workspace is at " +
                       state.prepared.plan.workspace};
}

// If a step waited for the supervisor's side, that side has the cause.
Error failure(const Sandbox::State& state) {
  std::optional<Error> network = state.network ? state.network->problem() : std::nullopt;
  if (!network) return setup_error(state.prepared.plan, *state.failed);
  network->context.insert(network->context.begin(), {"starting the sandbox", "its network"});
  return *std::move(network);
}

void reap(Sandbox::State& state) {
  if (!state.reaped) collect(state.launched.pidfd.get());
  state.reaped = true;
}

// The command has run, and what it made was judged as after any other run.
void end_for_network(ExecOutput& output, const Network& network) {
  const std::optional<Error> ended = network.ended();
  if (!ended) return;
  output.notes.push_back("the sandbox was ended: " + to_text(*ended));
  if (output.outcome != Outcome::guards_incomplete) output.outcome = Outcome::network_incomplete;
  output.exit_code = 125;
}

}  // namespace

Result<ExecOutput> collect_result(Sandbox::State& state, Ending ending) {
  // If the command was the last process inside, nothing can change the workspace any more: init's
  // exit (which unmounts) can proceed while we walk.
  if (ending == Ending::timed_out || !is_alone(state)) reap(state);
  // init's last report may still be unread.
  read_last_reports(state);
  if (state.timed_out) ending = Ending::timed_out;
  state.concluded = true;
  if (is_missing_directory(state)) return std::unexpected(directory_error(state));
  if (state.network) {
    state.network->stop();
    state.network->tell();
  }
  if (state.failed) return std::unexpected(failure(state));
  ExecOutput output;
  output.notes = state.prepared.plan.notes;
  set_outcome(output, state, ending);
  set_usage(output, state);
  output.ended_background = ending == Ending::by_itself && state.ended &&
                            state.ended->event == child::Event::exited && state.ended->alone == 0;
  tell_refusals(output, state);
  take_away(output, state);
  // Before the caller knows of the end: the next run must not doubt what this one has judged.
  state.record.leave();
  if (state.mounts.valid() && state.root.valid())
    if (std::optional<std::string> note =
            lost_files(state.root.get(), state.prepared.plan, begun(state)))
      output.notes.push_back(*std::move(note));
  if (!state.network) return output;
  end_for_network(output, *state.network);
  output.network = state.network->take_events();
  if (const std::size_t more = state.network->left_out(); more > 0)
    output.notes.push_back("network: " + std::to_string(more) +
                           " more decisions are not listed; -v logs them as they are made");
  for (Denial& denial : denials_of(output.network)) output.denials.push_back(std::move(denial));
  if (const std::optional<Error> problem = state.network->problem())
    output.notes.push_back("network: " + to_text(*problem));
  return output;
}

void release(Sandbox::State& state) {
  if (state.released) return;
  reap(state);
  state.calls_thread.reset();
  state.calls = {};
  state.files.reset();
  state.locks.reset();
  state.root.reset();
  state.mounts.reset();
  state.inside.clear();
  state.group.remove();
  state.charge.end();
  state.record.leave();
  state.trees.clear();
  state.released = true;
}

void destroy(Sandbox::State& state) {
  if (state.concluded) return release(state);
  kill_all(state);
  // What is new in the workspace was made by others: nothing of theirs is taken away.
  if (!state.has_command) {
    if (state.network) state.network->stop();
    state.concluded = true;
    return release(state);
  }
  // The error has no receiver; quarantine and group are handled nevertheless.
  [[maybe_unused]] const Result<ExecOutput> ignored = finish(state, Ending::by_itself);
}

Result<ExecOutput> finish(Sandbox::State& state, Ending ending) {
  Result<ExecOutput> output = collect_result(state, ending);
  release(state);
  return output;
}

}  // namespace coop::run
