// Prepared sandboxes: the same promises, one command each.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "coop/sandbox.h"
#include "kernel/support.h"

namespace coop::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Pool must_make(const Workspace& workspace, std::size_t size, Policy policy = {}) {
  policy.workspace = workspace.path();
  Result<Pool> pool = Pool::create(policy, size);
  if (!pool) ADD_FAILURE() << to_text(pool.error());
  return std::move(*pool);
}

KERNEL_TEST(KernelPool, RunsCommandsWithTheirOwnWordsVariablesAndDirectory) {
  const Workspace workspace;
  make_directories(workspace / "sub");
  Pool pool = must_make(workspace, 2);
  const Command command{
      .arguments = {"sh", "-c", "echo \"$A $PWD $1 $HOME\"; echo err >&2; exit 5", "sh", "a  b"},
      .environment = {{"A", "x=y"}},
      .directory = "/work/sub"};
  for (int round = 0; round < 5; ++round) {
    const Result<ExecOutput> done = pool.exec(command);
    ASSERT_TRUE(done.has_value()) << to_text(done.error());
    EXPECT_EQ(done->exit_code, 5);
    EXPECT_EQ(done->standard_output.text, "x=y /work/sub a  b /work\n");
    EXPECT_EQ(done->standard_error.text, "err\n");
  }
}

KERNEL_TEST(KernelPool, EachCommandHasAFreshSandbox) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 3);
  std::set<std::string> sessions;
  for (int round = 0; round < 6; ++round) {
    const Result<ExecOutput> done =
        pool.exec({.arguments = {"sh", "-c", "ls -A /tmp; touch /tmp/left; echo $COOP_SESSION"}});
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->standard_output.text.size(), 9u)
        << done->standard_output.text;  // nothing was in /tmp
    sessions.insert(done->standard_output.text);
  }
  EXPECT_EQ(sessions.size(), 6u);
}

KERNEL_TEST(KernelPool, FailuresTimeoutsAndMissingPrograms) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 2);
  EXPECT_EQ(pool.exec({.arguments = {"no-such-program"}})->outcome, Outcome::not_found);
  EXPECT_EQ(pool.exec({.arguments = {"/"}})->exit_code, 126);
  EXPECT_EQ(pool.exec({.arguments = {"sh", "-c", "kill -9 $$"}})->exit_code, 137);
  EXPECT_EQ(pool.exec({.arguments = {"sleep", "60"}}, milliseconds(300))->outcome,
            Outcome::timed_out);
  EXPECT_FALSE(pool.exec({}).has_value());
  EXPECT_EQ(pool.exec({.arguments = {"true"}})->exit_code, 0);
}

KERNEL_TEST(KernelPool, AMissingDirectoryIsNamed) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  const Result<ExecOutput> missing = pool.exec({.arguments = {"true"}, .directory = "/no/such"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(to_text(missing.error()).find("\"/no/such\": ENOENT"), std::string::npos)
      << to_text(missing.error());
  const Result<ExecOutput> empty = pool.exec({.arguments = {"true"}, .directory = ""});
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(to_text(empty.error()), "command directory: \"\" is no directory");
}

KERNEL_TEST(KernelPool, SpawnGivesTheStreamsOver) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Result<Sandbox> box =
      pool.spawn({.arguments = {"sh", "-c", "echo streamed; cat"}}, Stdio{.output = ends[1]});
  ASSERT_TRUE(box.has_value()) << to_text(box.error());
  EXPECT_EQ(box->wait(seconds(20))->exit_code, 0);  // its input is /dev/null
  ::close(ends[1]);
  char buffer[64];
  EXPECT_EQ(::read(ends[0], buffer, sizeof buffer), 9);
  EXPECT_EQ(::read(ends[0], buffer, sizeof buffer), 0);  // EOF: no other process holds it
  ::close(ends[0]);
}

KERNEL_TEST(KernelPool, ADirectoryIsNoStream) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Result<Sandbox> box = pool.spawn({.arguments = {"true"}}, Stdio{.input = directory});
  ASSERT_FALSE(box.has_value());
  EXPECT_NE(to_text(box.error()).find("directory of the host"), std::string::npos);
  ::close(directory);
  EXPECT_EQ(pool.exec({.arguments = {"true"}})->exit_code, 0);
}

KERNEL_TEST(KernelPool, IsFilledUpWhileACommandLasts) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  const std::string sleeper = "75319." + std::to_string(::getpid());
  std::thread caller([&] { pool.exec({.arguments = {"sleep", sleeper}}, seconds(3)); });
  EXPECT_TRUE(eventually([&] { return !processes_with(sleeper).empty(); }));
  EXPECT_TRUE(eventually([&] { return pool.ready() == 1; }));
  EXPECT_FALSE(processes_with(sleeper).empty());  // still running
  caller.join();
}

KERNEL_TEST(KernelPool, ALargeCommandLineFits) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  Command command{.arguments = {"sh", "-c", "echo $# ${#1} ${#BIG}", "sh"},
                  .environment = {{"BIG", std::string(100000, 'e')}}};
  for (int index = 0; index < 500; ++index) command.arguments.push_back(std::string(200, 'a'));
  const Result<ExecOutput> done = pool.exec(command);
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  EXPECT_EQ(done->standard_output.text, "500 200 100000\n");
}

KERNEL_TEST(KernelPool, ManyThreadsShareOne) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 4);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 10; ++round) {
        const std::string word = std::to_string(thread) + "-" + std::to_string(round);
        const Result<ExecOutput> done = pool.exec({.arguments = {"echo", word}}, seconds(60));
        if (done && done->standard_output.text == word + "\n") ++good;
        else
          ADD_FAILURE() << word << ": "
                        << (done ? done->standard_error.text : to_text(done.error()));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

KERNEL_TEST(KernelPool, ASandboxThatRanNothingTakesNothingAway) {
  const Workspace workspace;
  {
    const Pool pool = must_make(workspace, 1);
    write_file(workspace / ".envrc", "the user's\n");
  }
  EXPECT_EQ(read_file(workspace / ".envrc"), "the user's\n");
  {
    Pool pool = must_make(workspace, 1);
    ASSERT_TRUE(pool.exec({.arguments = {"mkdir", "/work/.vscode"}}).has_value());
  }
  EXPECT_FALSE(exists(workspace / ".vscode"));  // control
}

KERNEL_TEST(KernelPool, WhatOneCommandMadeIsGuardedForTheNext) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  const Result<ExecOutput> first = pool.exec({.arguments = {"sh", "-c", "echo evil > .envrc"}});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->quarantined.size(), 1u);
  EXPECT_FALSE(exists(workspace / ".envrc"));
}

KERNEL_TEST(KernelPool, NothingIsLeftWhenItGoes) {
  const Workspace workspace;
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  must_make(workspace, 1);
  const auto before = descriptors();
  for (int round = 0; round < 10; ++round) {
    Pool pool = must_make(workspace, 4);
    if (round % 2 == 0) {
      EXPECT_EQ(pool.exec({.arguments = {"true"}})->exit_code, 0);
    }
  }
  EXPECT_EQ(descriptors(), before);
}

KERNEL_TEST(KernelPool, FillsItselfUp) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 3);
  EXPECT_TRUE(eventually([&] { return pool.ready() == 3; }));
  EXPECT_EQ(pool.exec({.arguments = {"true"}})->exit_code, 0);
  EXPECT_TRUE(eventually([&] { return pool.ready() == 3; }));
}

// A program with a pool is killed. What the user made meanwhile is not the work of a sandbox that ran nothing.
KERNEL_TEST(KernelPool, AKilledProgramsIdleSandboxTakesNothingAway) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // the janitor becomes our child
  for (const bool runs : {false, true}) {
    const Workspace workspace;
    const Workspace state;
    const pid_t program = ::fork();
    if (program == 0) {
      ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
      Pool pool = must_make(workspace, 1);
      if (runs) {
        [[maybe_unused]] const Result<ExecOutput> killed =
            pool.exec({.arguments = {"sh", "-c", "echo evil > .envrc; touch ready; sleep 60"}});
      }
      write_file(workspace / "ready", "");
      ::pause();
    }
    ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
    write_file(workspace / ".mcp.json", "mine");
    ::kill(program, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    EXPECT_EQ(exists(workspace / ".mcp.json"), !runs);
    EXPECT_FALSE(exists(workspace / ".envrc"));  // control: the janitor is at work
  }
}

}  // namespace
}  // namespace coop::tests
