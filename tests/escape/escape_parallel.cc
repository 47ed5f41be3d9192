// Several sandboxes in one workspace at the same time: what one of them makes must not become the user's own for another.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

using nlohmann::json;

bool appears(const std::string& path) {
  for (int attempt = 0; attempt < 6000 && !exists(path); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return exists(path);
}

bool is_link(const std::string& path) {
  char text[2];
  return ::readlink(path.c_str(), text, sizeof text) > 0;
}

// A sandbox that does `first`, waits for the host's word, and does `then`.
class Background {
 public:
  Background(const Workspace& workspace, const std::string& name, const std::string& first,
             const std::string& then, const Arguments& flags = {})
      : ready_(workspace / (name + "-ready")), go_(workspace / (name + "-go")) {
    thread_ = std::thread([=, this, &workspace] {
      output_ = run_script(workspace,
                           first + "; touch " + name + "-ready; while [ ! -e " + name +
                               "-go ]; do sleep 0.01; done; " + then + "; true",
                           flags, workspace.options());
    });
    EXPECT_TRUE(appears(ready_));
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (thread_.joinable()) end();
  }

  json end() {
    write_file(go_, "");
    thread_.join();
    EXPECT_EQ(output_.value("exit_code", -1), 0) << output_.dump(2);
    return output_;
  }

 private:
  std::string ready_;
  std::string go_;
  json output_{};
  std::thread thread_{};
};

// The second run begins while the first one's file is there, and makes it again after the first has ended.
KERNEL_TEST(EscapeParallel, WhatAnotherRunMadeIsNotTheUsers) {
  const Workspace workspace;
  Background first(workspace, "a", "echo evil > .envrc", "true");
  ASSERT_TRUE(exists(workspace / ".envrc"));
  Background second(workspace, "b", "true", "echo evil > .envrc && touch wrote");
  EXPECT_EQ(first.end()["quarantined"].size(), 1U);
  EXPECT_FALSE(exists(workspace / ".envrc"));
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_FALSE(exists(workspace / ".envrc")) << output.dump(2);
}

// The first run ends while its repository is none: without HEAD its settings have no guarded name. The second run brings
// HEAD back, and has not changed what the first made.
KERNEL_TEST(EscapeParallel, WhatAnotherRunHidesAtItsEndIsJudgedByTheLast) {
  const Workspace workspace;
  const std::string bare =
      "mkdir -p r/objects r/refs; echo 'ref: refs/heads/m' > r/HEAD; "
      "printf '[core]\\n\\tfsmonitor = touch x\\n' > r/config";
  Background first(workspace, "a", bare, "rm r/HEAD");
  Background second(workspace, "b", "test -e r/config && touch seen",
                    "echo 'ref: refs/heads/m' > r/HEAD && touch wrote");
  first.end();
  ASSERT_TRUE(exists(workspace / "seen"));
  ASSERT_TRUE(exists(workspace / "r/config"));  // control: the first run had nothing to judge
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_FALSE(exists(workspace / "r/config")) << output.dump(2);
}

// The same for a name that counts only outside of node_modules.
KERNEL_TEST(EscapeParallel, WhatAnotherRunMovesAwayAtItsEndIsJudgedByTheLast) {
  const Workspace workspace;
  Background first(workspace, "a", "mkdir -p d; ln -s evil d/.mcp.json; mkdir node_modules",
                   "mv d node_modules/d");
  Background second(workspace, "b", "true", "mv node_modules/d d && touch wrote");
  first.end();
  EXPECT_TRUE(is_link(workspace / "node_modules/d/.mcp.json"));
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_FALSE(is_link(workspace / "d/.mcp.json")) << output.dump(2);
}

// A run that does not guard it does not know the user's file, and has not made it.
KERNEL_TEST(EscapeParallel, WhatAnotherRunDoesNotGuardStaysTheUsers) {
  const Workspace workspace;
  write_file(workspace / ".envrc", "mine");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Background first(workspace, "a", "true", "true", {"--allow-guarded", ".envrc"});
  Background second(workspace, "b", "true", "true");
  first.end();
  second.end();
  EXPECT_EQ(read_file(workspace / ".envrc"), "mine");
}

// A directory that was prepared earlier takes the place of the user's unfinished rebase while the second run begins, and
// again before it ends. Its files are older than both runs, and at a path that the first one knew.
KERNEL_TEST(EscapeParallel, AnOlderFileAtAKnownPathIsNotTheUsers) {
  const Workspace workspace;
  run_bare({"git", "init", "-q", workspace.path()});
  const std::string state = workspace / ".git/rebase-merge";
  make_directories(state);
  make_directories(workspace / ".git/prepared");
  write_file(state + "/git-rebase-todo", "pick 1234567 one\n");
  write_file(workspace / ".git/prepared/git-rebase-todo", "exec touch evil\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::string there =
      "cd .git; mv rebase-merge mine && mv prepared rebase-merge && touch wrote; cd ..";
  const std::string back =
      "cd .git; mv rebase-merge prepared && mv mine rebase-merge; rm wrote; cd ..";
  Background first(workspace, "a", there, back);
  ASSERT_EQ(read_file(state + "/git-rebase-todo"), "exec touch evil\n");
  Background second(workspace, "b", "true", there);
  EXPECT_TRUE(first.end()["quarantined"].empty());
  ASSERT_EQ(read_file(state + "/git-rebase-todo"), "pick 1234567 one\n");
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / ".git/wrote")) << output.dump(2);
  EXPECT_FALSE(exists(state + "/git-rebase-todo")) << output.dump(2);
}

// The host moves the workspace of the first run. What its sandbox hides when it ends is judged by the second, which knows the
// tree by its new name.
KERNEL_TEST(EscapeParallel, WhatARunInAMovedWorkspaceHidesIsJudgedByTheLast) {
  const Workspace outer;
  make_directories(outer / "w");
  const auto start = [&](const std::string& path, const std::string& name, const std::string& first,
                         const std::string& then) {
    return std::make_unique<Process>(
        Arguments{coop_binary(), "run", "--json", "-w", path, "--", "sh", "-c",
                  first + "; touch " + name + "-ready; while [ ! -e " + name +
                      "-go ]; do sleep 0.01; done; " + then},
        outer.options());
  };
  const auto first =
      start(outer / "w", "a", "mkdir d node_modules; ln -s evil d/.envrc", "mv d node_modules/d");
  ASSERT_TRUE(appears(outer / "w/a-ready"));
  ASSERT_EQ(::rename((outer / "w").c_str(), (outer / "v").c_str()), 0);
  const auto second = start(outer / "v", "b", "true", "mv node_modules/d d && touch wrote");
  ASSERT_TRUE(appears(outer / "v/b-ready"));
  write_file(outer / "v/a-go", "");
  first->finish();
  ASSERT_TRUE(
      exists(outer / "v/node_modules/d/.envrc"));  // control: the first had nothing to judge
  write_file(outer / "v/b-go", "");
  const Ran ran = second->finish();
  ASSERT_TRUE(exists(outer / "v/wrote")) << ran.out << ran.err;
  EXPECT_FALSE(is_link(outer / "v/d/.envrc")) << ran.out << ran.err;
}

// What the user moves meanwhile is the user's under its new path too.
KERNEL_TEST(EscapeParallel, WhatTheUserMovesMeanwhileStays) {
  const Workspace workspace;
  make_directories(workspace / "old");
  write_file(workspace / "old/.envrc", "mine");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Background first(workspace, "a", "true", "true");
  ASSERT_EQ(::rename((workspace / "old").c_str(), (workspace / "new").c_str()), 0);
  Background second(workspace, "b", "true", "true");
  EXPECT_TRUE(first.end()["quarantined"].empty());
  EXPECT_TRUE(second.end()["quarantined"].empty());
  EXPECT_EQ(read_file(workspace / "new/.envrc"), "mine");
}

KERNEL_TEST(EscapeParallel, ASymlinkOfAnotherRunIsNotPutBack) {
  const Workspace workspace;
  ASSERT_EQ(::symlink("mine", (workspace / ".mcp.json").c_str()), 0);
  // The clock of file systems has steps: what was made in the same one as the look is in doubt.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Background first(workspace, "a", "ln -s evil .envrc", "rm .envrc");
  Background second(workspace, "b", "true", "rm .mcp.json && touch wrote");
  first.end();
  EXPECT_FALSE(is_link(workspace / ".envrc"));
  const json output = second.end();
  EXPECT_FALSE(is_link(workspace / ".envrc")) << output.dump(2);
  // Control: the user's own, which the first run knew too, is put back.
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_TRUE(is_link(workspace / ".mcp.json")) << output.dump(2);
}

KERNEL_TEST(EscapeParallel, TheSameSymlinkMadeAgainIsTaken) {
  const Workspace workspace;
  Background first(workspace, "a", "ln -s evil .envrc", "true");
  Background second(workspace, "b", "true", "ln -s evil .envrc && touch wrote");
  first.end();
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_FALSE(is_link(workspace / ".envrc")) << output.dump(2);
}

// A directory that lay there before gets a guarded name by a rename: its files are older than both runs.
KERNEL_TEST(EscapeParallel, OldFilesUnderANewNameAreNotPutBack) {
  const Workspace workspace;
  make_directories(workspace / "example");
  write_file(workspace / "example/settings.json", "evil");
  Background first(workspace, "a", "mv example .claude", "mv .claude example");
  ASSERT_TRUE(exists(workspace / ".claude/settings.json"));
  Background second(workspace, "b", "true",
                    "mkdir -p .claude; cp example/* .claude && touch wrote");
  first.end();
  const json output = second.end();
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_FALSE(exists(workspace / ".claude/settings.json")) << output.dump(2);
}

// Nothing of the user's is taken because another run is under way, or because the user changes it meanwhile.
KERNEL_TEST(EscapeParallel, WhatTheUserMadeMeanwhileStays) {
  const Workspace workspace;
  write_file(workspace / ".envrc", "old");
  Background first(workspace, "a", "true", "true");
  write_file(workspace / ".envrc", "new");
  Background second(workspace, "b", "true", "true");
  write_file(workspace / ".envrc", "newer");
  EXPECT_TRUE(second.end()["quarantined"].empty());
  EXPECT_TRUE(first.end()["quarantined"].empty());
  EXPECT_EQ(read_file(workspace / ".envrc"), "newer");
}

std::string records(const Workspace& workspace) {
  const Ran ran = run_bare({"find", workspace.around().path(), "-path", "*/runs/*"});
  return ran.out;
}

KERNEL_TEST(EscapeParallel, NoRecordIsLeft) {
  const Workspace workspace;
  {
    const Background first(workspace, "a", "true", "true");
    EXPECT_NE(records(workspace), "");
    const Background second(workspace, "b", "true", "true");
  }
  EXPECT_EQ(records(workspace), "");
  Process coop(
      {coop_binary(), "run", "-w", workspace.path(), "--", "sh", "-c", "touch started; sleep 60"},
      workspace.options());
  ASSERT_TRUE(appears(workspace / "started"));
  EXPECT_NE(records(workspace), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the janitor is there
  coop.signal(SIGKILL);
  coop.finish();
  for (int attempt = 0; attempt < 6000 && !records(workspace).empty(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(records(workspace), "");
}

// The host moves the workspace and puts another directory in its place, as "git worktree" users and build systems do.
void move_workspace(const Workspace& outer, const std::string& inside, const std::string& kill) {
  const std::string path = outer / "w";
  make_directories(path);
  write_file(path + "/.envrc", "mine");
  Process coop({coop_binary(), "run", "--json", "-w", path, "--", "sh", "-c",
                "touch started; while [ ! -e go ]; do sleep 0.01; done; " + inside +
                    "; touch wrote; " + (kill.empty() ? "true" : "sleep 60")},
               outer.options());
  ASSERT_TRUE(appears(path + "/started"));
  ASSERT_EQ(::rename(path.c_str(), (outer / "moved").c_str()), 0);
  make_directories(path);
  write_file(path + "/.envrc", "the user's new one");
  write_file(outer / "moved/go", "");
  ASSERT_TRUE(appears(outer / "moved/wrote"));
  if (!kill.empty()) coop.signal(SIGKILL);
  const Ran ran = coop.finish();
  for (int attempt = 0; attempt < 6000 && exists(outer / "moved/.mcp.json"); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(exists(outer / "moved/.mcp.json")) << ran.out << ran.err;
  EXPECT_EQ(read_file(outer / "moved/.envrc"), "mine") << ran.out;
  EXPECT_EQ(read_file(path + "/.envrc"), "the user's new one") << ran.out;
  EXPECT_TRUE(!kill.empty() || ran.out.find("was moved to") != std::string::npos) << ran.out;
}

KERNEL_TEST(EscapeParallel, AWorkspaceThatIsMovedIsLookedThroughWhereItIs) {
  const Workspace outer;
  move_workspace(outer, "echo evil > .mcp.json", "");
}

KERNEL_TEST(EscapeParallel, AlsoWhenTheSupervisorIsKilled) {
  const Workspace outer;
  move_workspace(outer, "echo evil > .mcp.json; sleep 0.2", "kill");
}

// Others would take for the user's own what its sandbox makes.
KERNEL_TEST(EscapeParallel, ARunThatCannotBeRecordedDoesNotStart) {
  const Workspace workspace;
  const std::string runs = workspace.around() / "state/coop/runs";
  const auto run = [&] { return workspace.run({"touch", "made"}, {}, workspace.options()); };
  run_bare({"mkdir", "-p", runs});
  const int directory = ::open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(directory, LOCK_EX), 0);
  const Ran ran = run();
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_TRUE(ran.err.contains("recording the run")) << ran.err;
  EXPECT_FALSE(exists(workspace / "made"));
  ::close(directory);
  EXPECT_EQ(run().exit_code, 0);  // control
  EXPECT_TRUE(exists(workspace / "made"));
}

}  // namespace
}  // namespace coop::tests
