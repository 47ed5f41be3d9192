// Prepared sandboxes: the same promises, one command each.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "coop/sandbox.h"
#include "kernel/support.h"
#include "support/without_fuse.h"

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
    EXPECT_EQ(done->standard_output.text, "x=y /work/sub a  b /home/user\n");
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
  EXPECT_EQ(box->wait(seconds(120))->exit_code, 0);  // its input is /dev/null
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

// A pool of one whose sandbox was prepared before `change` happened on the host.
class Aged {
 public:
  explicit Aged(const std::function<void(const Workspace&)>& change, Policy policy = {})
      : pool_(must_make(workspace, 1, std::move(policy))) {
    change(workspace);
  }

  ExecOutput run(const std::string& script) {
    EXPECT_TRUE(eventually([this] { return pool_.ready() == 1; }));
    Result<ExecOutput> done = pool_.exec({.arguments = shell(script)});
    if (!done) ADD_FAILURE() << to_text(done.error());
    return done ? std::move(*done) : ExecOutput{};
  }

  const Workspace workspace{};

 private:
  Pool pool_;
};

KERNEL_TEST(KernelPoolAge, AGuardedFileOfTheUserIsGuardedAndStays) {
  Aged aged([](const Workspace& workspace) {
    write_file(workspace / ".envrc", "the user's\n");
    write_file(workspace / "plain", "the user's\n");
  });
  const ExecOutput done = aged.run("echo evil > .envrc; echo more > plain");
  EXPECT_EQ(read_file(aged.workspace / ".envrc"), "the user's\n");
  EXPECT_TRUE(done.quarantined.empty());
  EXPECT_EQ(read_file(aged.workspace / "plain"), "more\n");  // control
}

// Of a served git directory no mount would be lost.
KERNEL_TEST(KernelPoolAge, AReplacedGuardedFileIsGuardedAndStays) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_directories(workspace / ".git");
  write_file(workspace / ".git/HEAD", "ref: refs/heads/main\n");
  write_file(workspace / ".git/config", "[core]\n");
  Pool pool = must_make(workspace, 1);
  // As the host's git does it.
  write_file(workspace / ".git/config.lock", "[core]\n\tbare = false\n");
  std::filesystem::rename(workspace / ".git/config.lock", workspace / ".git/config");
  const Result<ExecOutput> done =
      pool.exec({.arguments = shell("echo evil >> .git/config; echo x > .git/description")});
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  EXPECT_TRUE(done->quarantined.empty());
  EXPECT_GE(pool.discarded(), 1u);
  EXPECT_EQ(read_file(workspace / ".git/config"), "[core]\n\tbare = false\n");
  EXPECT_EQ(read_file(workspace / ".git/description"), "x\n");  // control
}

// A directory of the user's is moved into packages, with a link in its place; later commands go by the real path.
KERNEL_TEST(KernelPoolAge, WhatIsMadeBehindALinkIntoPackagesIsTakenAway) {
  const Workspace workspace;
  make_directories(workspace / "app/sub");
  make_directories(workspace / "node_modules/other");
  Pool pool = must_make(workspace, 1);
  EXPECT_EQ(pool.exec({.arguments = shell("mv app node_modules/app; ln -s node_modules/app app")})
                ->exit_code,
            0);
  for (int round = 0; round < 3; ++round) {
    const Result<ExecOutput> done =
        pool.exec({.arguments = shell("cd node_modules; echo evil > app/sub/.envrc;"
                                      "echo x > other/.envrc")});
    ASSERT_TRUE(done.has_value()) << to_text(done.error());
    EXPECT_EQ(done->quarantined.size(), 1u);
    EXPECT_FALSE(exists(workspace / "app/sub/.envrc"));
    EXPECT_TRUE(exists(workspace / "node_modules/other/.envrc"));  // control: no link leads there
  }
}

// The attack: the pool prepares the next sandbox while the first command has a guarded file in place, which it then
// removes. The second command's file must not pass as one that was there before.
KERNEL_TEST(KernelPoolAge, AFileOfAnEarlierCommandIsNotTheUsers) {
  // The pool may prepare the next sandbox a moment before the file is made: then it proves nothing.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Workspace workspace;
    Pool pool = must_make(workspace, 1);
    ASSERT_TRUE(eventually([&] { return pool.ready() == 1; }));
    bool ended_well = false;
    std::thread first([&] {
      const Result<ExecOutput> done =
          pool.exec({.arguments = shell("echo evil > .envrc; until [ -e go ]; do sleep 0.01; done; "
                                        "rm .envrc")});
      ended_well = done && done->exit_code == 0;
    });
    EXPECT_TRUE(eventually([&] { return exists(workspace / ".envrc"); }));
    EXPECT_TRUE(eventually([&] { return pool.ready() == 1; }));
    write_file(workspace / "go", "");
    first.join();
    ASSERT_TRUE(ended_well);
    const Result<ExecOutput> second =
        pool.exec({.arguments = shell("echo evil > .envrc; echo x > plain")});
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(exists(workspace / ".envrc"));
    EXPECT_EQ(second->quarantined.size(), 1u);
    EXPECT_TRUE(exists(workspace / "plain"));  // control
    if (pool.discarded() >= 1) return;         // it had been prepared with the file in place
  }
  ADD_FAILURE() << "no sandbox was prepared while the file was there";
}

// The host's git writes it with every `git status`.
KERNEL_TEST(KernelPoolAge, AnotherIndexIsNoReasonToPrepareAgain) {
  const Workspace workspace;
  ASSERT_EQ(run_bare({"sh", "-c", "git init -q . && echo x > f && git add f"},
                     {.directory = workspace.path()})
                .exit_code,
            0);
  // Something else on the machine may change in between.
  for (int attempt = 0; attempt < 10; ++attempt) {
    Pool pool = must_make(workspace, 1);
    ASSERT_TRUE(eventually([&] { return pool.ready() == 1; }));
    const std::string name = "g" + std::to_string(attempt);
    ASSERT_EQ(run_bare({"sh", "-c", "echo y > " + name + " && git add " + name},
                       {.directory = workspace.path()})
                  .exit_code,
              0);
    const Result<ExecOutput> done = pool.exec({.arguments = shell("git ls-files")});
    ASSERT_TRUE(done.has_value());
    EXPECT_TRUE(done->standard_output.text.contains(name)) << done->standard_error.text;
    if (pool.discarded() == 0) return;
  }
  ADD_FAILURE() << "each was prepared again";
}

// A server that begins to listen while the sandbox waits.
KERNEL_TEST(KernelPoolAge, ANewSocketIsNotReachable) {
  const Workspace workspace(visible_place());
  const std::string place = workspace.around() / "srv";
  make_directories(place);
  write_file(place + "/file", "");
  Policy policy;
  policy.view = View::host;
  Pool pool = must_make(workspace, 1, policy);
  ASSERT_TRUE(eventually([&] { return pool.ready() == 1; }));
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = place + "/app.sock";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(server, 1), 0);
  const Result<ExecOutput> done =
      pool.exec({.arguments = shell("test -S " + path + " && echo reachable; ls " + place)});
  ::close(server);
  ASSERT_TRUE(done.has_value()) << to_text(done.error());
  EXPECT_FALSE(done->standard_output.text.contains("reachable"));
  EXPECT_TRUE(done->standard_output.text.contains("file\n"));  // control
  EXPECT_GE(pool.discarded(), 1u);
}

// The user logs in somewhere while the sandbox waits.
KERNEL_TEST(KernelPoolAge, ANewSecretIsNotVisible) {
  const Workspace workspace(visible_place());
  const std::string home = workspace.around().path();
  const pid_t program = ::fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    ::setenv("HOME", home.c_str(), 1);
    Policy policy;
    policy.view = View::host;
    policy.home_view = HomeView::shown;
    Pool pool = must_make(workspace, 1, policy);
    if (!eventually([&] { return pool.ready() == 1; })) ::_exit(2);
    write_file(home + "/.netrc", "SECRET");
    write_file(home + "/notes", "public");
    const Result<ExecOutput> done =
        pool.exec({.arguments = shell("cat " + home + "/.netrc " + home + "/notes")});
    if (!done) ::_exit(3);
    if (done->standard_output.text.contains("SECRET")) ::_exit(4);
    if (!done->standard_output.text.contains("public")) ::_exit(5);  // control
    ::_exit(pool.discarded() >= 1 ? 0 : 6);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The next sandbox is prepared while the first command already has a repository there.
KERNEL_TEST(KernelPoolAge, ARepositoryOfAnEarlierCommandCanBeChangedAndRemoved) {
  const Workspace workspace;
  Pool pool = must_make(workspace, 1);
  std::string told;
  const auto run = [&](const std::string& script) {
    const Result<ExecOutput> done = pool.exec({.arguments = shell(script)});
    EXPECT_TRUE(eventually([&] { return pool.ready() == 1; }));
    told += script + "\n";
    for (const std::string& note : done ? done->notes : std::vector<std::string>())
      told += "  " + note + "\n";
    for (const Quarantined& moved : done ? done->quarantined : std::vector<Quarantined>())
      told += "  " + moved.path + ": " + moved.problem + "\n";
    return done ? done->exit_code : -1;
  };
  EXPECT_EQ(run("git init -q new; sleep 0.5"), 0);
  EXPECT_EQ(run("git -C new remote add one https://example.com/x"), 0);
  const std::string settings = read_file(workspace / "new/.git/config");
  EXPECT_NE(settings.find("example.com"), std::string::npos);
  // What must not stay is undone to what the command before left, not to what was there when this one was prepared.
  EXPECT_EQ(run("git -C new config core.pager evil"), 0);
  EXPECT_EQ(read_file(workspace / "new/.git/config"), settings) << told;
  EXPECT_EQ(run("mv new other && rm -rf other"), 0);
  EXPECT_FALSE(exists(workspace / "other"));
}

KERNEL_TEST(KernelPoolAge, AHiddenPathThatAppearsIsHidden) {
  const Workspace other;
  Policy policy{
      .rules = {
          PathRule{.kind = RuleKind::read_only, .path = other.path()},
          PathRule{.kind = RuleKind::hide, .path = other / "token", .if_missing = Missing::skip}}};
  Aged aged(
      [&](const Workspace&) {
        write_file(other / "token", "secret\n");
        write_file(other / "plain", "shown\n");
      },
      policy);
  EXPECT_EQ(
      aged.run("cat " + other.path() + "/token " + other.path() + "/plain").standard_output.text,
      "shown\n");
}

KERNEL_TEST(KernelPoolAge, AReplacedWorkspaceIsTheNewOne) {
  const Workspace parent;
  make_directories(parent / "project");
  Result<Pool> pool = Pool::create({.workspace = parent / "project"}, 1);
  ASSERT_TRUE(pool.has_value());
  std::filesystem::rename(parent / "project", parent / "old");
  make_directories(parent / "project");
  ASSERT_TRUE(pool->exec({.arguments = shell("echo x > made")}).has_value());
  EXPECT_TRUE(exists(parent / "project/made"));
  EXPECT_FALSE(exists(parent / "old/made"));
}

// Control for all of these: a sandbox is not made anew where nothing has changed. Other programs of this machine may
// change something (a socket that the host view hides), so that one try of several counts.
KERNEL_TEST(KernelPoolAge, AnUnchangedHostKeepsThePreparedSandbox) {
  for (const View view : {View::minimal, View::host}) {
    const Workspace workspace;
    make_directories(workspace / ".git/hooks");
    write_file(workspace / ".git/HEAD", "ref: refs/heads/main\n");
    std::size_t discarded = 1;
    for (int attempt = 0; attempt < 20 && discarded > 0; ++attempt) {
      Pool pool = must_make(workspace, 2, Policy{.view = view});
      ASSERT_TRUE(eventually([&] { return pool.ready() == 2; }));
      // COOP_CREATED has another value by then.
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      const Result<Sandbox> running = pool.spawn({.arguments = {"sleep", "0.005"}}, {});
      ASSERT_TRUE(running.has_value());
      discarded = pool.discarded();
    }
    EXPECT_EQ(discarded, 0u);
  }
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
