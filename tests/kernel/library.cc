// libcoop from a C++ program: threads, streams, signals, and no changes to the calling process.
#include "coop/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <sstream>
#include <thread>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Policy policy_of(const Workspace& workspace) { return Policy{.workspace = workspace.path()}; }

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

struct PipeEnds {
  int read = -1;
  int write = -1;
  PipeEnds() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read = ends[0];
    write = ends[1];
  }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  ~PipeEnds() {
    ::close(read);
    ::close(write);
  }
};

// Reads for ten seconds at most: the test itself holds the other end, so there is no EOF.
std::string read_line(int fd) {
  std::string line;
  pollfd ready{fd, POLLIN, 0};
  for (char c = 0; ::poll(&ready, 1, 10000) == 1 && ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

KERNEL_TEST(KernelLibrary, ExecTellsEverything) {
  const Workspace workspace;
  const Result<ExecOutput> done = exec(policy_of(workspace), "echo out; echo err >&2; exit 4");
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  EXPECT_EQ(done->exit_code, 4);
  EXPECT_EQ(done->outcome, Outcome::exited);
  EXPECT_EQ(done->standard_output, (Captured{"out\n", 4, false}));
  EXPECT_EQ(done->standard_error, (Captured{"err\n", 4, false}));
  EXPECT_EQ(done->quarantined, std::vector<Quarantined>{});
}

KERNEL_TEST(KernelLibrary, CommandsHaveTheirOwnEnvironmentAndDirectory) {
  const Workspace workspace;
  make_directories(workspace / "sub dir");
  const Command command{.arguments = {"sh", "-c", "echo \"$A|$PWD|$1\"", "sh", "a b\n"},
                        .environment = {{"A", "1"}},
                        .directory = "/work/sub dir"};
  const Result<ExecOutput> done = exec(policy_of(workspace), command);
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  EXPECT_EQ(done->standard_output.text, "1|/work/sub dir|a b\n\n");
}

KERNEL_TEST(KernelLibrary, ErrorsAreValues) {
  const Workspace workspace;
  EXPECT_EQ(exec(policy_of(workspace), Command{}).error().kind, Error::Kind::invalid);
  EXPECT_EQ(spawn(policy_of(workspace), Command{}, {}).error().kind, Error::Kind::invalid);
  const Result<ExecOutput> missing = exec(Policy{.workspace = "/no/such"}, "true");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(to_text(missing.error()), testing::HasSubstr("/no/such"));
  EXPECT_FALSE(Pool::create(policy_of(workspace), 0).has_value());
  EXPECT_FALSE(Pool::create(Policy{.workspace = "/no/such"}, 1).has_value());
  const Result<ExecOutput> directory =
      exec(policy_of(workspace), Command{.arguments = {"true"}, .directory = "/no/such"});
  ASSERT_FALSE(directory.has_value());
  EXPECT_THAT(to_text(directory.error()), testing::HasSubstr("\"/no/such\": ENOENT"));
  for (const Command& odd : {Command{.arguments = {std::string("a\0b", 3)}},
                             Command{.arguments = {"true"}, .environment = {{"LD_PRELOAD", "x"}}},
                             Command{.arguments = {"true"}, .environment = {{"A=B", "x"}}},
                             Command{.arguments = {"true"}, .environment = {{"", "x"}}},
                             Command{.arguments = {"true"}, .directory = ""},
                             Command{.arguments = {"true"}, .directory = std::string("/\0", 2)}})
    EXPECT_EQ(exec(policy_of(workspace), odd).error().kind, Error::Kind::invalid);
}

KERNEL_TEST(KernelLibrary, TimeoutsAndBounds) {
  const Workspace workspace;
  Policy policy = policy_of(workspace);
  policy.limits.output_limit = 100;
  const Result<ExecOutput> done = exec(policy, "seq 10000; sleep 60", milliseconds(700));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->outcome, Outcome::timed_out);
  EXPECT_EQ(done->exit_code, 124);
  EXPECT_EQ(done->standard_output.total_bytes, 48894u);
  EXPECT_TRUE(done->standard_output.truncated);
  EXPECT_LT(done->usage.wall, seconds(50));
}

KERNEL_TEST(KernelLibrary, SpawnStreamsBothWays) {
  const Workspace workspace;
  PipeEnds to, from;
  Result<Sandbox> box = spawn(
      policy_of(workspace),
      Command{.arguments = {"sh", "-c", "while read line; do echo \"got $line\"; done; exit 6"}},
      Stdio{.input = to.read, .output = from.write});
  ASSERT_TRUE(box.has_value()) << to_text(box.error());
  for (const char* word : {"one\n", "two\n"}) {
    ASSERT_EQ(::write(to.write, word, 4), 4);
    EXPECT_EQ(read_line(from.read) + "\n", std::string("got ") + word);  // while it runs
  }
  ::close(to.write);
  to.write = -1;
  const Result<ExecOutput> done = box->wait(seconds(120));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->exit_code, 6);
  EXPECT_FALSE(box->wait().has_value());  // once is enough
}

KERNEL_TEST(KernelLibrary, SignalKillAndWait) {
  const Workspace workspace;
  PipeEnds from;
  const Stdio stdio{.output = from.write};
  Result<Sandbox> box = spawn(
      policy_of(workspace),
      Command{.arguments =
                  {"sh", "-c",
                   "trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.05; done"}},
      stdio);
  ASSERT_TRUE(box.has_value());
  EXPECT_EQ(box->id().size(), 8u);
  EXPECT_EQ(read_line(from.read), "ready");
  EXPECT_TRUE(box->signal(SIGUSR1).has_value());
  EXPECT_EQ(box->wait(seconds(120))->exit_code, 3);
  EXPECT_EQ(read_line(from.read), "caught");

  Result<Sandbox> other =
      spawn(policy_of(workspace),
            Command{.arguments = {"sh", "-c", "setsid sleep 60 & echo ready; sleep 60"}}, stdio);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(read_line(from.read), "ready");
  EXPECT_TRUE(other->kill().has_value());
  pollfd dead{other->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&dead, 1, 10000), 1);
  const Result<ExecOutput> done = other->wait();
  EXPECT_EQ(done->outcome, Outcome::signalled);
  EXPECT_EQ(done->exit_code, 137);

  Result<Sandbox> slow = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
  EXPECT_EQ(slow->wait(milliseconds(200))->outcome, Outcome::timed_out);
}

KERNEL_TEST(KernelLibrary, OnlySignalsCanBeSent) {
  const Workspace workspace;
  Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
  ASSERT_TRUE(box.has_value());
  for (const int number : {-1, 0, 65, 999}) {
    const Result<void> sent = box->signal(number);
    ASSERT_FALSE(sent.has_value()) << number;
    EXPECT_EQ(to_text(sent.error()), "signal: " + std::to_string(number) + " is no signal");
  }
  EXPECT_TRUE(box->signal(64).has_value());
  EXPECT_EQ(box->wait(seconds(120))->signal, 64);
}

// Blocks it in this thread, and so in whatever is started from it.
class Blocked {
 public:
  explicit Blocked(int number) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

KERNEL_TEST(KernelLibrary, SignalsTheCallerBlocksAreNotBlockedInside) {
  const Workspace workspace;
  const Command show{.arguments = {"grep", "SigBlk", "/proc/self/status"}};
  const std::string none = "SigBlk:\t0000000000000000\n";
  const Blocked blocked(SIGTERM);
  EXPECT_NE(run_bare(show.arguments).out, none);  // control: it would be inherited
  EXPECT_EQ(exec(policy_of(workspace), show)->standard_output.text, none);
  EXPECT_EQ(workspace.run(show.arguments).out, none);
  EXPECT_EQ(workspace.run(show.arguments, {"--tty"}).out, "SigBlk:\t0000000000000000\r\n");
  Result<Pool> pool = Pool::create(policy_of(workspace), 1);
  ASSERT_TRUE(pool.has_value()) << to_text(pool.error());
  for (int round = 0; round < 3; ++round)  // made by us, and by the pool's own thread
    EXPECT_EQ(pool->exec(show)->standard_output.text, none);
  const Command sleep{.arguments = {"sleep", "60"}};
  Result<Sandbox> boxes[] = {spawn(policy_of(workspace), sleep, {}), pool->spawn(sleep, {})};
  for (Result<Sandbox>& box : boxes) {
    ASSERT_TRUE(box.has_value()) << to_text(box.error());
    EXPECT_TRUE(box->signal(SIGTERM).has_value());
    EXPECT_EQ(box->wait(seconds(120))->signal, SIGTERM);
  }
}

// The program is stopped (SIGSTOP): init enforces the timeout too.
KERNEL_TEST(KernelLibrary, ATimeoutHoldsWhileTheProgramIsStopped) {
  const Workspace workspace;
  const std::string marker = "86421." + std::to_string(::getpid());
  const pid_t program = ::fork();
  if (program == 0) {
    const Result<ExecOutput> done =
        exec(policy_of(workspace), Command{.arguments = {"sleep", marker}}, milliseconds(1500));
    ::_exit(done && done->outcome == Outcome::timed_out && done->exit_code == 124 ? 0 : 1);
  }
  EXPECT_TRUE(eventually([&] { return !processes_with(marker).empty(); }));
  ::kill(program, SIGSTOP);
  EXPECT_TRUE(all_gone(marker));
  ::kill(program, SIGCONT);
  int status = -1;
  EXPECT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_EQ(status, 0);
}

KERNEL_TEST(KernelLibrary, DestroyingTheHandleKills) {
  const Workspace workspace;
  const std::string marker = "86420." + std::to_string(::getpid());
  {
    const Result<Sandbox> box =
        spawn(policy_of(workspace), Command{.arguments = {"sleep", marker}}, {});
    ASSERT_TRUE(box.has_value());
    EXPECT_TRUE(eventually([&] { return !processes_with(marker).empty(); }));
  }
  EXPECT_TRUE(all_gone(marker));
}

KERNEL_TEST(KernelLibrary, ManyThreadsAtOnce) {
  const Workspace workspace;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 20; ++round) {
        const std::string word = std::to_string(thread) + "-" + std::to_string(round);
        const Result<ExecOutput> done =
            exec(policy_of(workspace), Command{.arguments = {"echo", word}}, seconds(60));
        if (done && done->exit_code == 0 && done->standard_output.text == word + "\n") ++good;
        else
          ADD_FAILURE() << word << ": "
                        << (done ? done->standard_error.text : to_text(done.error()));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
}

KERNEL_TEST(KernelLibrary, FiftySandboxesAtOnce) {
  const Workspace workspace;
  const std::string marker = "97531." + std::to_string(::getpid());
  std::vector<Sandbox> boxes;
  for (int index = 0; index < 50; ++index) {
    Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", marker}}, {});
    ASSERT_TRUE(box.has_value()) << index << ": " << to_text(box.error());
    boxes.push_back(std::move(*box));
  }
  EXPECT_TRUE(eventually([&] { return processes_with(marker).size() >= 50; }))
      << processes_with(marker).size();
  std::set<std::string> ids;
  for (Sandbox& box : boxes) ids.insert(box.id());
  EXPECT_EQ(ids.size(), 50u);
  boxes.clear();
  EXPECT_TRUE(all_gone(marker));
}

std::size_t own_children() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::istringstream children(read_file(task.path() / "children"));
    count += static_cast<std::size_t>(
        std::distance(std::istream_iterator<int>(children), std::istream_iterator<int>()));
  }
  return count;
}

KERNEL_TEST(KernelLibrary, OneJanitorServesThemAll) {
  const Workspace workspace;
  const std::size_t before = own_children();
  {
    std::vector<Sandbox> boxes;
    for (int index = 0; index < 5; ++index) {
      Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
      ASSERT_TRUE(box.has_value()) << to_text(box.error());
      boxes.push_back(std::move(*box));
    }
    EXPECT_EQ(own_children() - before, 6u);
  }
  EXPECT_EQ(own_children(), before);
}

KERNEL_TEST(KernelLibrary, AKilledProgramsSandboxesAreAllCleanedUpAfter) {
  const Workspace workspaces[3];
  const Workspace state;
  const pid_t program = ::fork();
  if (program == 0) {
    ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
    std::vector<Sandbox> boxes;
    for (const Workspace& workspace : workspaces)
      if (Result<Sandbox> box = spawn(
              policy_of(workspace),
              Command{.arguments = {"sh", "-c", "echo evil > .envrc; touch ready; sleep 60"}}, {}))
        boxes.push_back(std::move(*box));
    // A child of its own that survives must not keep the janitor from noticing its exit.
    if (::fork() == 0) ::_exit(::sleep(4) != 0);
    ::pause();
  }
  for (const Workspace& workspace : workspaces)
    EXPECT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  for (const Workspace& workspace : workspaces)
    EXPECT_TRUE(eventually([&] { return !exists(workspace / ".envrc"); }));
  const Ran kept = run_bare({"grep", "-rlc", "evil", state / "coop/quarantine"});
  EXPECT_EQ(std::ranges::count(kept.out, '\n'), 3) << kept.out;
}

// Continuous output delays neither the timeout nor the janitor.
KERNEL_TEST(KernelLibrary, AFloodOfOutputPutsNothingOff) {
  const Workspace workspace;
  const Workspace state;
  const Command flood{.arguments = {"sh", "-c", "echo evil > .envrc; touch ready; exec yes"}};
  EXPECT_EQ(exec(policy_of(workspace), flood, milliseconds(300))->outcome, Outcome::timed_out);
  std::filesystem::remove(workspace / "ready");
  const pid_t program = ::fork();
  if (program == 0) {
    ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
    [[maybe_unused]] const Result<ExecOutput> killed = exec(policy_of(workspace), flood);
    ::_exit(0);
  }
  EXPECT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(exists(workspace / ".envrc"));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !exists(workspace / ".envrc"); }));
}

// A forked child has copies of the handles, but does not own the sandboxes.
KERNEL_TEST(KernelLibrary, AForkedChildCannotTakeWhatIsItsParents) {
  const Workspace workspace;
  Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
  ASSERT_TRUE(box.has_value()) << to_text(box.error());
  auto pool = std::make_unique<Pool>(*Pool::create(policy_of(workspace), 1));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const bool refused = !pool->exec({.arguments = {"true"}}) && !box->wait() && !box->kill();
    pool.reset();
    {
      const Sandbox gone(std::move(*box));
    }
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pool->exec({.arguments = {"true"}})->exit_code, 0);
  EXPECT_EQ(box->wait(milliseconds(200))->outcome, Outcome::timed_out);  // it was alive
}

// init's memory was a copy of ours.
KERNEL_TEST(KernelLibrary, InitForgetsWhatItWasClonedWith) {
  const Workspace workspace;
  const std::string large(std::size_t{64} << 20, 'x');
  const Result<ExecOutput> done =
      exec(policy_of(workspace), "sleep 0.5; sed -n 's/^RssAnon:[^0-9]*//p' /proc/1/status");
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  const int kilobytes = std::atoi(done->standard_output.text.c_str());
  EXPECT_GT(kilobytes, 0) << done->standard_output.text;
  EXPECT_LT(kilobytes, 1024);
  EXPECT_EQ(large.back(), 'x');
}

std::atomic<int> child_signals = 0;

// A separate suite: after another test's threads, the helper's SIGCHLD is expected.
KERNEL_TEST(KernelEmbedding, TheCallersChildrenAndSignalsAreItsOwn) {
  if (__libc_single_threaded == 0) GTEST_SKIP() << "this process has had threads";
  const Workspace workspace;
  struct sigaction counting{};
  struct sigaction before{};
  counting.sa_handler = [](int) { ++child_signals; };
  ASSERT_EQ(::sigaction(SIGCHLD, &counting, &before), 0);
  child_signals = 0;
  EXPECT_TRUE(exec(policy_of(workspace), "true").has_value());
  {
    Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
    ASSERT_TRUE(box.has_value());
    // A program's own wait() loop must not see or reap our processes.
    errno = 0;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
  EXPECT_EQ(child_signals, 0);
  ::sigaction(SIGCHLD, &before, nullptr);
}

KERNEL_TEST(KernelLibrary, TheCallersStateIsUntouched) {
  const Workspace workspace;
  const auto state = [] {
    std::string text = std::filesystem::current_path().string() + read_file("/proc/self/limits") +
                       read_file("/proc/self/mountinfo") + std::to_string(::getpgrp()) + "\n";
    // Not by a program: while it is started, signals are blocked here.
    std::istringstream status(read_file("/proc/thread-self/status"));
    for (std::string line; std::getline(status, line);)
      for (const char* const field :
           {"SigBlk", "SigIgn", "SigCgt", "Uid", "Seccomp", "NoNewPrivs", "Cap"})
        if (line.starts_with(field)) text += line + "\n";
    return text;
  };
  const std::string before = state();
  EXPECT_TRUE(exec(policy_of(workspace), "true").has_value());
  EXPECT_EQ(state(), before);
}

KERNEL_TEST(KernelLibrary, NoDescriptorLeaks) {
  const Workspace workspace;
  EXPECT_TRUE(exec(policy_of(workspace), "true").has_value());
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(exec(policy_of(workspace), "true").has_value());
    EXPECT_TRUE(exec(policy_of(workspace), Command{.arguments = {"no-such-program"}}).has_value());
    EXPECT_FALSE(exec(Policy{.workspace = "/no/such"}, "true").has_value());
    Policy wrong = policy_of(workspace);
    wrong.rules = {PathRule{.kind = RuleKind::read_only, .path = "/no/such"}};
    EXPECT_FALSE(exec(wrong, "true").has_value());
    Result<Sandbox> box = spawn(policy_of(workspace), Command{.arguments = {"sleep", "60"}}, {});
  }
  EXPECT_EQ(open_descriptors(), before);
}

KERNEL_TEST(KernelLibrary, DescriptorsOfTheCallerDoNotShowInside) {
  const Workspace workspace;
  const int secret = ::open("/etc/passwd", O_RDONLY);  // on purpose without O_CLOEXEC
  const Result<ExecOutput> done = exec(policy_of(workspace), "ls /proc/self/fd | wc -l");
  ::close(secret);
  EXPECT_EQ(done->standard_output.text, "4\n");  // 0, 1, 2 and ls's own
}

}  // namespace
}  // namespace coop::tests
