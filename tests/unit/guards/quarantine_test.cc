#include "guards/quarantine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "guards/workspace.h"
#include "sys/fd.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::exists;
using test::read_text;
using test::TempTree;
using Lines = std::vector<std::string>;

// A workspace "w" and a quarantine "q", on the same file system or not.
class QuarantineTest : public testing::Test {
 protected:
  void before(const Path& workspace = "w") {
    workspace_ = tree / workspace;
    Result<WorkspaceFacts> facts = inspect_workspace(workspace_, names_);
    ASSERT_TRUE(facts) << to_text(facts.error());
    facts_ = {*facts};
  }
  QuarantineReport after() { return after(tree / "q"); }
  QuarantineReport after(const Path& directory) {
    return quarantine({.roots = {workspace_},
                       .names = names_,
                       .mounted = mounted_,
                       .places = {},
                       .versions = versions_,
                       .doubtful = doubtful_,
                       .git_user = git_user_},
                      facts_, directory);
  }
  // As if there were mounts on these, of which nothing is left to see.
  void mount(const std::vector<Path>& paths) {
    for (const Path& path : paths) mounted_.push_back(tree / path);
    versions_ = keep_versions(mounted_);
  }
  // "relative path: rule" of what was moved.
  Lines moved(const QuarantineReport& report) const {
    Lines lines;
    for (const Quarantined& item : report.moved) {
      const bool inside = is_within(item.path, workspace_);
      lines.push_back(
          std::string(inside ? relative_to(item.path, workspace_) : std::string_view(item.path)) +
          ": guard " + item.guard);
      EXPECT_FALSE(exists(item.path)) << item.path;
      EXPECT_TRUE(exists(item.moved_to)) << item.moved_to;
    }
    return lines;
  }

  static Lines moved_paths(const QuarantineReport& report) {
    Lines lines;
    for (const Quarantined& item : report.moved) lines.push_back(item.path);
    return lines;
  }

  const TempTree tree;
  std::vector<std::string> names_ = test::kGuards;
  Path workspace_{};
  std::vector<WorkspaceFacts> facts_{};
  std::vector<Path> mounted_{};
  Versions versions_{};
  std::vector<Path> doubtful_{};
  GitUser git_user_{};
};

TEST_F(QuarantineTest, WhatWasThereStays) {
  tree.must("git init -q w && mkdir w/.vscode && touch w/.envrc");
  before();
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{});
  EXPECT_EQ(report.notes, Lines{});
  EXPECT_FALSE(exists(tree / "q"));
  EXPECT_TRUE(exists(tree / "w/.git/hooks"));
}

TEST_F(QuarantineTest, WhatAppearedIsMovedWithItsBytes) {
  tree.must("git init -q w && rm -r w/.git/hooks");
  before();
  tree.must(
      "cd w && mkdir -p .git/hooks .vscode .github/workflows src/.vscode node_modules/x/.vscode"
      " && echo run "
      ">.git/hooks/pre-commit && echo '{}' >.vscode/tasks.json && echo e >x && ln x .envrc");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), (Lines{".envrc: guard .envrc", ".git/hooks: guard .git/hooks",
                                  ".github/workflows: guard .github/workflows",
                                  ".vscode: guard .vscode", "src/.vscode: guard .vscode"}));
  EXPECT_EQ(report.notes, Lines{});
  EXPECT_TRUE(exists(tree / "w/node_modules/x/.vscode"));
  EXPECT_EQ(read_text(tree / "q/0-w/.git/hooks/pre-commit"), "run\n");
  EXPECT_EQ(read_text(tree / "q/0-w/.vscode/tasks.json"), "{}\n");
  EXPECT_EQ(read_text(tree / "q/0-w/.envrc"), "e\n");
  EXPECT_EQ(test::mode_of(tree / "q"), mode_t{0700});
}

// What another run may have written is no version to go back to, but it is kept.
TEST_F(QuarantineTest, ADoubtfulVersionIsNotPutBack) {
  tree.must("mkdir w && echo first >w/.envrc");
  before();
  mount({"w/.envrc"});
  doubtful_ = {tree / "w/.envrc"};
  EXPECT_EQ(moved(after()), Lines{});  // as it was
  tree.must("rm w/.envrc && echo second >w/.envrc");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{".envrc: guard .envrc"});
  EXPECT_EQ(read_text(tree / "q/0-w/.envrc"), "second\n");
  ASSERT_EQ(report.notes.size(), 1U);
  const std::size_t place = report.notes[0].find(tree / "q/before/");
  ASSERT_NE(place, std::string::npos) << report.notes[0];
  EXPECT_EQ(read_text(report.notes[0].substr(place)), "first\n");
}

// The run that was there first has put back the user's version, which this one never saw.
TEST_F(QuarantineTest, TheVersionOfTheRunBeforeIsPutBack) {
  tree.must("mkdir -p w stores && echo user >w/.envrc");
  before();
  mount({"w/.envrc"});
  const std::vector<WorkspaceFacts> facts = facts_;
  const Versions versions = versions_;
  tree.must("rm w/.envrc && echo evil >w/.envrc");
  before();
  versions_ = keep_versions(mounted_);
  const Versions doubted = versions_;
  const std::vector<WorkspaceFacts> facts_of_second = facts_;
  versions_ = versions;
  facts_ = facts;
  EXPECT_EQ(moved_paths(after(tree / "stores/a")), Lines{tree / "w/.envrc"});
  EXPECT_EQ(read_text(tree / "w/.envrc"), "user\n");
  versions_ = doubted;
  facts_ = facts_of_second;
  doubtful_ = {tree / "w/.envrc"};
  EXPECT_EQ(moved_paths(after(tree / "stores/b")), Lines{});
  tree.must("rm w/.envrc && echo evil >w/.envrc");
  EXPECT_EQ(moved_paths(after(tree / "stores/b")), Lines{tree / "w/.envrc"});
  EXPECT_EQ(read_text(tree / "w/.envrc"), "user\n");
}

// "relative path: problem" of what was moved.
Lines problems(const QuarantineReport& report, const Path& root) {
  Lines lines;
  for (const Quarantined& item : report.moved)
    lines.push_back(std::string(relative_to(item.path, root)) + ": " + item.problem);
  return lines;
}

TEST_F(QuarantineTest, ANewRepositoryThatRunsNothingStays) {
  tree.must("git init -q lib && cd lib && git commit -q --allow-empty -m x && cd .. && mkdir w");
  before();
  tree.must(
      "git init -q w/n && cd w/n && git commit -q --allow-empty -m x && touch .envrc"
      " && git init -q --bare ../bare && git clone -q ../../lib ../clone && cd ../clone &&"
      " git -c protocol.file.allow=always submodule --quiet add $(cd ../../lib && pwd) sub &&"
      " git branch -q --track t origin/HEAD && git worktree add -q ../tree");
  EXPECT_EQ(moved(after()), Lines{"n/.envrc: guard .envrc"});
  tree.must(
      "cd w/n && git log --oneline && cd ../clone && git fetch && git push -q origin HEAD:y &&"
      " git -C sub fetch && git -C ../tree status && git -C ../bare log --all");
}

TEST_F(QuarantineTest, OfANewRepositoryOnlyWhatCanExecuteIsMoved) {
  tree.must("mkdir w");
  before();
  tree.must(
      "cd w && for name in setting hook link hard url tree; do git init -q $name; done &&"
      " git -C setting config core.fsmonitor ./evil && touch hook/.git/hooks/post-checkout &&"
      " mv link/.git/config link/c && ln -s ../c link/.git/config && ln hard/.git/config hard/c &&"
      " git -C url config remote.o.url 'ext::sh -c evil' && git -C tree config core.worktree "
      "../..");
  EXPECT_EQ(problems(after(), workspace_),
            (Lines{"hard/.git/config: it has other hard links",
                   "hook/.git/hooks: post-checkout is a hook, which git runs", "link/.git/config: ",
                   "setting/.git/config: the setting core.fsmonitor is not one of those that run "
                   "nothing",
                   "tree/.git/config: core.worktree leads elsewhere",
                   "url/.git/config: the value of remote.o.url could run a program"}));
  EXPECT_TRUE(exists(tree / "w/hook/.git/config"));
  EXPECT_TRUE(exists(tree / "w/url/.git/hooks"));
}

TEST_F(QuarantineTest, AConfigurationThatIsStillOpenForWritingIsMoved) {
  tree.must("mkdir w");
  before();
  tree.must("git init -q w/n");
  const int writer = ::open((tree / "w/n/.git/config").c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(problems(after(), workspace_),
            Lines{"n/.git/config: a program may still have it open for writing"});
  ::close(writer);
}

// As another sandbox could that was sent a descriptor.
TEST_F(QuarantineTest, ADescriptorOfTheHooksLeadsToNothingAfterwards) {
  tree.must("mkdir w");
  before();
  tree.must("git init -q w/n");
  const int hooks = ::open((tree / "w/n/.git/hooks").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const auto make = [&](const char* name) {
    const int file = ::openat(hooks, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    return file >= 0 && ::close(file) == 0;
  };
  EXPECT_TRUE(make("x.sample"));  // control
  EXPECT_EQ(moved(after()), Lines{});
  EXPECT_FALSE(make("post-checkout"));
  ::close(hooks);
  EXPECT_TRUE(exists(tree / "w/n/.git/hooks/x.sample"));
  EXPECT_TRUE(exists(tree / "w/n/.git/hooks/pre-commit.sample"));
  EXPECT_FALSE(exists(tree / "w/n/.git/hooks/post-checkout"));
}

TEST_F(QuarantineTest, AFileThatTheUsersConfigurationIncludesDoesNotStay) {
  tree.must("git init -q w && git -C w config include.path ../x/config");
  before();
  tree.must("git init -q --bare w/x");
  EXPECT_EQ(moved(after()), Lines{"x/config: guard .git/config"});
}

TEST_F(QuarantineTest, ARebaseIsJudgedByTheProgramsThatItAdds) {
  tree.must("git init -q w && mkdir w/.git/rebase-merge w/.git/sequencer");
  const Path todo = "w/.git/rebase-merge/git-rebase-todo";
  tree.write(todo, "pick 1234 x\nexec make test\n");
  names_.insert(names_.end(), {".git/rebase-merge/git-rebase-todo", ".git/rebase-merge/strategy",
                               ".git/sequencer/opts"});
  before();
  tree.must("cd w && rm .git/rebase-merge/git-rebase-todo");
  tree.write(todo, "exec make test\nreword 1234 x\n");
  tree.write("w/.git/rebase-merge/strategy", "ort\n");
  tree.write("w/.git/sequencer/opts", "[options]\n\tstrategy = ort\n\tedit = true\n");
  EXPECT_EQ(problems(after(), workspace_), Lines{});
  tree.write(todo, "pick 1234 x\n\t x evil\n");
  tree.write("w/.git/rebase-merge/strategy", "x/evil\n");
  tree.write("w/.git/sequencer/opts", "[options]\n\tstrategy = x/evil\n");
  EXPECT_EQ(problems(after(), workspace_),
            (Lines{".git/rebase-merge/git-rebase-todo: \"\\x09 x evil\" could run a program",
                   ".git/rebase-merge/strategy: \"x/evil\\x0a\" could run a program",
                   ".git/sequencer/opts: \"options.strategy = x/evil\" could run a program"}));
}

TEST_F(QuarantineTest, NewWorktreesAndSubmodulesAreHarmless) {
  tree.must(
      "git init -q lib && cd lib && git commit -q --allow-empty -m x && cd .. &&"
      " git init -q w && cd w && git commit -q --allow-empty -m x");
  before();
  tree.must(
      "cd w && git worktree add -q tree &&"
      " git -c protocol.file.allow=always submodule --quiet add ../lib sub && cd sub &&"
      " git submodule status");
  QuarantineReport report = after();
  // .git/config was not read-only in this test: submodule add has replaced it.
  EXPECT_EQ(moved(report), Lines{".git/config: guard .git/config"});
  ASSERT_EQ(report.notes.size(), 1u);
  tree.must(
      "cd w/tree && git commit -q --allow-empty -m y && cd ../sub &&"
      " git commit -q --allow-empty -m y");
}

TEST_F(QuarantineTest, GitFilesAndLinksThatLeadElsewhereAreMoved) {
  tree.must("git init -q evil && git init -q w");
  before();
  tree.must(
      "cd w && mkdir a b c && echo 'gitdir: ../../evil/.git' >a/.git && ln -s ../../evil/.git"
      " b/.git && mkfifo c/.git && echo ../evil >.git/commondir && mkdir .git/modules &&"
      " ln -s ../../evil .git/modules/m");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report),
            (Lines{".git/commondir: guard .git", ".git/modules/m: guard .git", "a/.git: guard .git",
                   "b/.git: guard .git", "c/.git: guard .git"}));
  EXPECT_EQ(report.notes, Lines{});
}

TEST_F(QuarantineTest, HarmlessGitFileWhoseTargetWasSwappedIsMoved) {
  tree.must(
      "git init -q w && cd w && mkdir -p .git/modules/s/objects .git/modules/s/refs s &&"
      " echo 'ref: refs/heads/x' >.git/modules/s/HEAD && echo 'gitdir: ../.git/modules/s' "
      ">s/.git && cp -r .git/modules/s evil");
  before();
  tree.must(
      "cd w && rm -r .git/modules/s && ln -s ../../evil .git/modules/s && echo x >evil/config");
  // With the symlink gone s/.git leads nowhere, and may stay.
  EXPECT_EQ(moved(after()),
            (Lines{".git/modules/s: guard .git", "evil/config: guard .git/config"}));
}

TEST_F(QuarantineTest, HarmlessGitFileThatLeadsToAnotherDirectoryIsMoved) {
  tree.must(
      "git init -q w && cd w && mkdir -p .git/modules/s/objects .git/modules/s/refs s &&"
      " echo 'ref: refs/heads/x' >.git/modules/s/HEAD && echo 'gitdir: ../.git/modules/s' >s/.git");
  before();
  tree.must("cd w && mv .git/modules/s old && mkdir .git/modules/s && rm -r old");
  EXPECT_EQ(moved(after()), Lines{"s/.git: guard .git"});
}

// Another sandbox may have received a descriptor of what is judged by its contents.
TEST_F(QuarantineTest, WhatMayStillBeWrittenIsMoved) {
  names_.insert(names_.end(), {".git/rebase-merge/end", ".git/rebase-merge/msgnum"});
  tree.must("git init -q w && cd w && echo x >f && git add f && git commit -qm x");
  before();
  tree.must(
      "cd w && mkdir s .git/rebase-merge && echo 1 >.git/rebase-merge/end &&"
      " echo 2 >.git/rebase-merge/msgnum");
  tree.must(
      "cd w && mkdir -p .git/modules && git clone -q --bare . .git/modules/s && rm -r "
      ".git/modules/s/hooks");
  tree.must("cd w && echo 'gitdir: ../.git/modules/s' >s/.git && mkdir t && cp s/.git t/.git");
  const UniqueFd number(::open((workspace_ + "/.git/rebase-merge/end").c_str(), O_WRONLY));
  const UniqueFd pointer(::open((workspace_ + "/s/.git").c_str(), O_WRONLY));
  ASSERT_TRUE(number.valid() && pointer.valid());
  const Lines lines = moved(after());
  EXPECT_TRUE(contains(lines, ".git/rebase-merge/end: guard .git/rebase-merge/end"));
  EXPECT_TRUE(contains(lines, "s/.git: guard .git"));
  // Controls: the same without a descriptor.
  EXPECT_TRUE(exists(workspace_ + "/.git/rebase-merge/msgnum"));
  EXPECT_TRUE(exists(workspace_ + "/t/.git"));
}

TEST_F(QuarantineTest, SymlinksInTheStoreOfGitAnnexAreMoved) {
  tree.must("git init -q w");
  before();
  tree.must(
      "cd w/.git && mkdir -p annex/objects/ab annex/tmp annex/objects/ef/01 &&"
      " ln -s /tmp annex/objects/ab/cd && ln -s /tmp annex/tmp/x && ln -s /tmp annex/objects/gh");
  EXPECT_EQ(moved(after()),
            (Lines{".git/annex/objects/ab/cd: guard .git", ".git/annex/objects/gh: guard .git",
                   ".git/annex/tmp/x: guard .git"}));
  EXPECT_TRUE(exists(workspace_ + "/.git/annex/objects/ef/01"));
}

// The user moves the repository that a worktree belongs to, or the worktree.
TEST_F(QuarantineTest, AGitFileThatLeadsNowhereStays) {
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x &&"
      " git worktree add -q ../w");
  before();
  tree.must("mv main elsewhere");
  EXPECT_EQ(moved(after()), Lines{});
  EXPECT_TRUE(exists(tree / "w/.git"));
}

TEST_F(QuarantineTest, WhatTheUserMovesWithItsDirectoryStays) {
  tree.must("mkdir w && git init -q w/a && git init -q w/b && echo x >w/b/.envrc");
  before();
  mount({"w/a/.git/config", "w/a/.git/hooks"});
  tree.must("cd w && mv a c && mv b d");
  // What was not protected could be moved, and written, from inside.
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{"d/.envrc: guard .envrc"});
  EXPECT_TRUE(exists(tree / "w/c/.git/config"));
  // Nor is what was written in its new place the user's.
  tree.must(
      "mkdir w/c/x && mv w/c/.git/config w/c/x/config && mv w/c/x/config w/c/.git/config &&"
      " printf '[core]\\n\\tpager = evil\\n' >>w/c/.git/config");
  EXPECT_EQ(moved(after()), Lines{"c/.git/config: guard .git/config"});
}

// git writes through them, in the user's repository and in new ones.
TEST_F(QuarantineTest, NewSymlinksInGitDirectoriesAreMoved) {
  tree.must(
      "git init -q w && cd w && git commit -q --allow-empty -m x && mkdir .git/shared &&"
      " ln -s shared .git/lost-found && git init -q --bare b.git");
  before();
  tree.must(
      "cd w && ln -s ~/.bashrc .git/COMMIT_EDITMSG2 && rm .git/logs/HEAD &&"
      " ln -s ~/.bashrc .git/logs/HEAD && ln -s ~/.bashrc .git/refs/heads/x &&"
      " mkdir .git/rebase-merge && ln -s ~/.bashrc .git/rebase-merge/done &&"
      " git init -q new && mkdir -p new/.git/logs/refs/heads/a/b &&"
      " ln -s ~/.bashrc new/.git/logs/refs/heads/a/b/c && ln -s x new/.git/index &&"
      " rm new/.git/HEAD && ln -s refs/heads/main new/.git/HEAD &&"
      " ln -s ~/.bashrc b.git/FETCH_HEAD && mkdir -p .git/rr-cache/x .git/objects/info &&"
      " ln -s ~/.bashrc .git/rr-cache/x/thisimage && ln -s ~/.bashrc "
      ".git/objects/info/commit-graph");
  EXPECT_EQ(moved(after()),
            (Lines{".git/COMMIT_EDITMSG2: guard .git", ".git/logs/HEAD: guard .git",
                   ".git/objects/info/commit-graph: guard .git",
                   ".git/rebase-merge/done: guard .git", ".git/refs/heads/x: guard .git",
                   ".git/rr-cache/x/thisimage: guard .git", "b.git/FETCH_HEAD: guard .git",
                   "new/.git/index: guard .git", "new/.git/logs/refs/heads/a/b/c: guard .git"}));
  // The user's own, and the old form of HEAD.
  EXPECT_TRUE(exists(tree / "w/.git/lost-found"));
  tree.must("test -L w/new/.git/HEAD");
}

TEST_F(QuarantineTest, OutsideRepositoryIsLookedThroughWhateverItsPointersSayNow) {
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x &&"
      " git worktree add -q ../w && rm -r .git/hooks");
  before();
  tree.must(
      "mkdir main/.git/hooks && touch main/.git/hooks/x && echo /nowhere "
      ">main/.git/worktrees/w/gitdir && echo x >main/.git/worktrees/w/config.worktree");
  const Path git = tree / "main/.git";
  EXPECT_EQ(moved(after()),
            (Lines{git + "/hooks: guard .git/hooks",
                   git + "/worktrees/w/config.worktree: guard .git/config.worktree"}));
  EXPECT_TRUE(exists(tree / "q/0-.git/hooks/x"));
}

TEST_F(QuarantineTest, SymlinkItselfIsMovedNotItsTarget) {
  tree.must("mkdir w w/target elsewhere");
  before();
  tree.must(
      "ln -s ../elsewhere w/.vscode && ln -s target w/.claude && touch "
      "w/target/settings.json elsewhere/x");
  EXPECT_EQ(moved(after()),
            (Lines{".claude: guard .claude/settings.json", ".vscode: guard .vscode"}));
  EXPECT_TRUE(exists(tree / "elsewhere/x"));
  EXPECT_TRUE(exists(tree / "w/target/settings.json"));
}

TEST_F(QuarantineTest, ReplacedSymlinkIsMovedAndTheOldOnePutBack) {
  tree.must(
      "mkdir -p w/shared w/evil w/src && touch w/shared/rc && ln -s shared/rc w/.envrc &&"
      " ln -s shared/none w/.vscode && ln -s shared w/.claude");
  before();
  tree.must("cd w && ln -sfn src .claude && rm .envrc && echo evil >.envrc && mkdir shared/none");
  const QuarantineReport report = after();
  // What the unchanged symlink leads to has appeared; the new target of the changed one stays.
  EXPECT_EQ(moved(QuarantineReport{}), Lines{});
  Lines paths;
  for (const Quarantined& item : report.moved)
    paths.emplace_back(relative_to(item.path, workspace_));
  EXPECT_EQ(paths, (Lines{".claude", ".envrc", "shared/none"}));
  tree.must(
      "cd w && [ $(readlink .envrc) = shared/rc ] && [ $(readlink .claude) = shared ] &&"
      " [ -d src ] && [ $(cat ../q/0-w/.envrc) = evil ]");
  EXPECT_EQ(report.notes.size(), 2u);
}

// What a symlink that is put back leads to counts as well.
TEST_F(QuarantineTest, TheTargetOfAReplacedSymlinkIsMoved) {
  tree.must("mkdir -p w/shared && ln -s shared/a w/.vscode && ln -s shared/b w/.envrc");
  before();
  tree.must(
      "cd w && rm .vscode .envrc && mkdir shared/a && echo evil >shared/b && ln -s /nowhere "
      ".vscode "
      "&& ln -s shared/b .envrc");
  const QuarantineReport report = after();
  tree.must(
      "cd w && [ $(readlink .vscode) = shared/a ] && [ $(readlink .envrc) = shared/b ] && [ ! -e "
      "shared/a ] && [ ! -e shared/b ] && [ $(cat ../q/0-w/shared/b) = evil ]");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.total, 3u);
}

TEST_F(QuarantineTest, WhatIsMadeBehindALinkIntoPackagesIsMoved) {
  tree.must("mkdir -p w/app w/node_modules && touch w/app/mise.toml && mkdir w/app/.vscode");
  names_.emplace_back("mise.toml");
  before();
  mount({"w/app/mise.toml", "w/app/.vscode"});
  tree.must("cd w && mv app node_modules/app && ln -s node_modules/app app && touch app/.envrc");
  EXPECT_EQ(moved(after()), Lines{"node_modules/app/.envrc: guard .envrc"});
  before();
  EXPECT_EQ(moved(after()), Lines{});
  tree.must("cd w && touch app/.envrc");
  EXPECT_EQ(moved(after()), Lines{"node_modules/app/.envrc: guard .envrc"});
  EXPECT_TRUE(exists(tree / "w/app/.vscode"));
}

// Packages may be read-only for the sandbox, or hidden: it must not choose what is taken from them.
TEST_F(QuarantineTest, OfANewLinkToWhatPackagesHaveTheLinkIsMoved) {
  tree.must(
      "mkdir -p w/node_modules/a w/node_modules/b/sub w/node_modules/c && cd w/node_modules &&"
      " touch a/.envrc b/sub/.envrc c/.envrc && ln -s ../b a/b && ln -s ../c a/c &&"
      " ln -s node_modules/c ../c && sleep 0.02");
  before();
  tree.must("sleep 0.02; cd w && ln -s node_modules/a one && ln -s node_modules/c two");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{"one: guard .envrc"});
  EXPECT_TRUE(report.complete);
  EXPECT_TRUE(exists(tree / "w/node_modules/b/sub/.envrc"));
  EXPECT_TRUE(exists(tree / "w/two"));  // adds nothing to the user's own link
}

TEST_F(QuarantineTest, ALinkIntoPackagesThroughProcIsMoved) {
  tree.must("mkdir -p w/node_modules/app");
  before();
  tree.must("cd w && ln -s /proc/self/cwd/node_modules/app app && touch node_modules/app/.envrc");
  EXPECT_EQ(moved(after()).size(), 1U);
  EXPECT_FALSE(exists(tree / "w/app"));
  EXPECT_TRUE(exists(tree / "w/node_modules/app/.envrc"));
}

TEST_F(QuarantineTest, ChangeThroughAnotherHardLinkIsMovedWhereNoVersionWasKept) {
  tree.must("mkdir w && echo a >w/.envrc && ln w/.envrc w/other");
  before();
  mounted_ = {tree / "w/.envrc"};
  tree.must("echo b >>w/other");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{".envrc: guard .envrc"});
}

// What symlinks in guarded directories lead to, when the run begins or only in the end.
TEST_F(QuarantineTest, WhatIsMadeBehindLinksInGuardedDirectoriesIsMoved) {
  tree.must(
      "git init -q w && cd w && mkdir -p build lib scripts tools/husky .vscode/deep &&"
      " ln -s ../../build/pc .git/hooks/pre-commit && ln -s ../../scripts/pc .git/hooks/post-commit"
      " && ln -s ../lib/real scripts/pc && echo x >lib/real && ln -s ../../lib/late .vscode/deep/l"
      " && mkdir .github && ln -s ../tools/husky .github/workflows && ln -s ../../lib/h "
      "tools/husky/pre-push");
  before();
  tree.must(
      "cd w && echo evil >build/pc && rm scripts/pc && echo evil >scripts/pc && echo evil >lib/late"
      " && echo evil >lib/h && echo fine >lib/free");
  const QuarantineReport report = after();
  EXPECT_EQ(moved_paths(report), (Lines{tree / "w/build/pc", tree / "w/lib/h", tree / "w/lib/late",
                                        tree / "w/scripts/pc"}));
  for (const char* const name : {"build/pc", "lib/h", "lib/late"})
    EXPECT_FALSE(exists(tree / (std::string("w/") + name))) << name;
  EXPECT_EQ(read_text(tree / "w/scripts/pc"), "x\n");  // the symlink was put back
  EXPECT_TRUE(exists(tree / "w/lib/free"));
}

// The inode alone would not tell: its number may be that of the removed file.
TEST_F(QuarantineTest, ReplacementOfWhatWasNotMountedIsMoved) {
  tree.must("mkdir -p w/.vscode w/.github/workflows && echo a >w/.envrc");
  before();
  mounted_ = {tree / "w/.github"};
  tree.must(
      "cd w && rm -r .envrc .vscode && echo b >.envrc && mkdir .vscode &&"
      " touch .github/workflows/host");
  EXPECT_EQ(moved(after()), (Lines{".envrc: guard .envrc", ".vscode: guard .vscode"}));
}

TEST_F(QuarantineTest, WhatWasReplacedByTheSameStays) {
  tree.must(
      "mkdir -p w/.vscode/a && echo x >w/.vscode/a/x && ln -s a w/.vscode/l && echo a >w/.envrc");
  before();
  mount({"w/.vscode", "w/.envrc"});
  ASSERT_EQ(versions_.size(), 2u);
  tree.must(
      "cd w && cp -rp .vscode v && rm -r .vscode && mv v .vscode && cp -p .envrc e && mv e .envrc");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{});
  EXPECT_EQ(report.notes, Lines{});
}

TEST_F(QuarantineTest, WhatWasReplacedByAnotherIsMovedAndThePreviousVersionPutBack) {
  tree.must(
      "mkdir -p w/.vscode/a && echo x >w/.vscode/a/x && ln -s a w/.vscode/l && chmod 500 "
      "w/.vscode/a && echo a >w/.envrc && chmod 640 w/.envrc");
  before();
  mount({"w/.vscode", "w/.envrc"});
  tree.must(
      "cd w && cp -rp .vscode v && chmod 700 .vscode/a && rm -r .vscode && mv v .vscode && echo "
      "evil "
      ">.vscode/tasks.json && echo evil >e && mv e .envrc");
  const QuarantineReport report = after();
  Lines paths;
  for (const Quarantined& item : report.moved)
    paths.emplace_back(relative_to(item.path, workspace_));
  EXPECT_EQ(paths, (Lines{".envrc", ".vscode"}));
  EXPECT_EQ(report.notes.size(), 2u);
  EXPECT_TRUE(report.complete);
  tree.must(
      "cd w && [ $(cat .envrc) = a ] && [ $(stat -c %a .envrc) = 640 ] && [ ! -e "
      ".vscode/tasks.json ]"
      " && [ $(cat .vscode/a/x) = x ] && [ $(readlink .vscode/l) = a ] && [ $(stat -c %a "
      ".vscode/a) "
      "= 500 ] && [ $(cat ../q/0-w/.envrc) = evil ] && [ $(cat ../q/0-w/.vscode/tasks.json) = evil "
      "]");
}

// Two runs at once: the second begins while the first one's sandbox has written the file, and ends last.
TEST_F(QuarantineTest, WhatAnotherRunHasPutBackStays) {
  tree.must("mkdir w && echo good >w/.envrc");
  before();
  mount({"w/.envrc"});
  const std::vector<WorkspaceFacts> first = facts_;
  const Versions good = versions_;
  tree.must("cd w && echo evil >e && mv e .envrc");
  before();
  mount({});
  const std::vector<WorkspaceFacts> second = std::exchange(facts_, first);
  const Versions evil = std::exchange(versions_, good);
  EXPECT_NE(evil, good);
  EXPECT_EQ(after(tree / "q/1").total, 1u);
  EXPECT_EQ(read_text(tree / "w/.envrc"), "good\n");
  facts_ = second;
  versions_ = evil;
  EXPECT_EQ(after(tree / "q/2").total, 0u);
  EXPECT_EQ(read_text(tree / "w/.envrc"), "good\n");
  // Control: what was not put back is exchanged.
  tree.must("cd w && echo other >e && mv e .envrc");
  EXPECT_EQ(after(tree / "q/3").total, 1u);
}

TEST_F(QuarantineTest, VersionsAreBounded) {
  tree.must(
      "mkdir -p w/.vscode && truncate -s 5M w/.envrc && for i in $(seq 2100); do : "
      ">w/.vscode/$i; done; git init -q w");
  before();
  mount({"w/.vscode", "w/.envrc", "w/.git/config"});
  ASSERT_EQ(versions_.size(), 1u);
  EXPECT_EQ(versions_[0].path, tree / "w/.git/config");
}

TEST_F(QuarantineTest, MoreThanCanBeListedIsMovedToo) {
  const TempTree memory(test::fast_parent());
  memory.must(
      "mkdir w && git init -q w/old && cd w/old && for i in 1 2 3 4 5; do git init -q sub$i; done");
  workspace_ = memory / "w";
  Result<WorkspaceFacts> facts = inspect_workspace(workspace_, test::kGuards);
  ASSERT_TRUE(facts);
  facts_ = {*facts};
  memory.must(
      "cd w && mkdir d && cd d && seq 50000 | xargs mkdir && for i in $(seq 50000); do : >$i/.git; "
      "done; mkdir -p ../deep/x/y && git init -q ../deep/x/y/z; git -C ../deep/x/y/z config "
      "core.fsmonitor x; "
      "mkdir -p ../deep/x/y/z/.git/hooks && echo x > ../deep/x/y/z/.git/hooks/post-checkout; chmod "
      "500 1 2");
  const QuarantineReport report = after(memory / "q");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.total, 50'002u);
  EXPECT_EQ(report.moved.size(), 100u);
  EXPECT_EQ(report.notes.size(), 1u);
  for (const Quarantined& item : report.moved) EXPECT_TRUE(exists(item.moved_to)) << item.moved_to;
  memory.must(
      "[ -z \"$(find w/d -name .git)\" ] && [ ! -e w/deep/x/y/z/.git/hooks ] && [ ! -e "
      "w/deep/x/y/z/.git/config ] && [ -e w/old/.git/config ] && [ -e w/old/sub5/.git/hooks ] && "
      "[ -z \"$(ls -A w | grep coop)\" ] && [ $(find q -type f -empty | wc -l) = 50000 ]");
}

TEST_F(QuarantineTest, ModesHideAndHoldNothing) {
  tree.must("mkdir w");
  before();
  tree.must(
      "cd w && mkdir -p a/b/.git/hooks/x .vscode .github/workflows && echo x "
      ">.vscode/x && chmod 000 .vscode/x .vscode .github a/b/.git/hooks && chmod 555 a/b/.git &&"
      " chmod 000 a/b a && chmod 555 .");
  const QuarantineReport report = after();
  tree.must(
      "chmod 755 w && [ $(stat -c %a w/a) = 0 ] && [ $(stat -c %a w/.github) = 0 ] &&"
      " chmod 700 w/a w/.github q/0-w/.vscode q/0-w/.vscode/x");
  EXPECT_EQ(moved(report), (Lines{".github/workflows: guard .github/workflows",
                                  ".vscode: guard .vscode", "a/b/.git/hooks: guard .git/hooks"}));
  EXPECT_EQ(report.notes, Lines{});
  EXPECT_EQ(read_text(tree / "q/0-w/.vscode/x"), "x\n");
  tree.must(
      "[ $(stat -c %a w/a/b) = 0 ] && chmod 700 w/a/b && [ $(stat -c %a w/a/b/.git) = 555 ] &&"
      " [ $(stat -c %a q/0-w/a/b/.git/hooks) = 0 ]");
}

TEST_F(QuarantineTest, StrangeNamesAreMoved) {
  tree.must("mkdir w");
  before();
  const std::string name = "new\nline\xff\x1b[2J" + std::string(240, 'x');
  ASSERT_EQ(::mkdir((tree / "w/" + name).c_str(), 0755), 0);
  ASSERT_EQ(::mkdir((tree / "w/" + name + "/.git").c_str(), 0755), 0);
  tree.write("w/" + name + "/.git/config", "c");
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{name + "/.git/config: guard .git/config"});
  EXPECT_EQ(report.notes, Lines{});
  EXPECT_EQ(read_text(tree / "q/0-w/" + name + "/.git/config"), "c");
}

TEST_F(QuarantineTest, PathsLongerThanAnySystemCallTakesAreMoved) {
  const TempTree memory(test::fast_parent());
  memory.must("mkdir w");
  workspace_ = memory / "w";
  facts_ = {WorkspaceFacts{}};
  const int deep = test::make_deep(workspace_, 5000);  // 10,000 bytes
  ASSERT_EQ(::mkdirat(deep, ".git", 0755), 0);
  ASSERT_EQ(::mkdirat(deep, ".git/hooks", 0755), 0);
  ASSERT_EQ(::mkdirat(deep, ".git/hooks/x", 0755), 0);
  const QuarantineReport report = after(memory / "q");
  EXPECT_EQ(report.notes, Lines{});
  ASSERT_EQ(report.moved.size(), 1u);
  EXPECT_EQ(report.moved[0].path.size(), workspace_.size() + 10'000 + 11);
  EXPECT_EQ(::faccessat(deep, ".git/hooks", F_OK, 0), -1);
  ::close(deep);
  memory.must("find q -name hooks | grep -q hooks");
}

TEST_F(QuarantineTest, EndlessNestingWithGuardsInEveryLevelEnds) {
  const TempTree memory(test::fast_parent());
  workspace_ = memory.path();
  facts_ = {WorkspaceFacts{}};
  int directory = ::open(workspace_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int level = 0; level < 12'000; ++level) {
    ASSERT_EQ(::mkdirat(directory, "d", 0755), 0);
    const int below = ::openat(directory, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (level % 50 == 0) {
      ASSERT_EQ(::symlinkat("x", below, ".git"), 0);
    }
    ::close(directory);
    directory = below;
  }
  ::close(directory);
  const QuarantineReport report = after(memory / "q");
  EXPECT_EQ(report.notes.size(), 1u);  // too many to keep their paths
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(memory.shell("! find d -name .git | grep -q ."), 0);
}

TEST_F(QuarantineTest, SecondCallOfASessionFindsItsOwnShelf) {
  tree.must("mkdir w");
  before();
  tree.must("echo 1 >w/.envrc");
  const QuarantineReport first = after();
  tree.must("echo 2 >w/.envrc");
  const QuarantineReport second = after();
  ASSERT_EQ(first.moved.size(), 1u);
  ASSERT_EQ(second.moved.size(), 1u);
  EXPECT_EQ(read_text(first.moved[0].moved_to), "1\n");
  EXPECT_EQ(read_text(second.moved[0].moved_to), "2\n");
}

TEST_F(QuarantineTest, QuarantineInsideTheWorkspaceIsLeftAlone) {
  tree.must("mkdir w");
  before();
  tree.must("git init -q w/n && touch w/n/.git/hooks/x");
  const QuarantineReport report = after(tree / "w/q");
  EXPECT_EQ(moved(report), Lines{"n/.git/hooks: guard .git/hooks"});
  EXPECT_EQ(moved(after(tree / "w/q")), Lines{});
}

TEST_F(QuarantineTest, QuarantineThatIsASymlinkIsRefusedAndTheFileSetAside) {
  tree.must("mkdir w elsewhere && ln -s elsewhere q");
  before();
  tree.must("echo x >w/.envrc");
  const QuarantineReport report = after();
  ASSERT_EQ(moved(report), Lines{".envrc: guard .envrc"});
  EXPECT_EQ(report.moved[0].moved_to, tree / "w/.coop-quarantined-0");
  EXPECT_EQ(report.notes.size(), 1u);
  tree.must("[ -z \"$(ls elsewhere)\" ]");
}

TEST_F(QuarantineTest, WhatCannotBeMovedMakesTheReportIncomplete) {
  tree.must("mkdir w elsewhere && ln -s elsewhere q");
  before();
  tree.must("cd w && echo x >.envrc && seq -f .coop-quarantined-%g 0 10000 | xargs touch");
  const QuarantineReport report = after();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.total, 0u);
  EXPECT_EQ(report.notes.size(), 2u);
  EXPECT_TRUE(exists(tree / "w/.envrc"));
}

TEST_F(QuarantineTest, AfterAnIncompleteLookTheTimeDecides) {
  tree.must("mkdir w && touch w/.envrc");
  before();
  facts_[0].guarded.clear();  // not reached
  facts_[0].complete = false;
  facts_[0].started += 1'000'000'000;
  EXPECT_EQ(moved(after()), Lines{});
  facts_[0].started -= 3'000'000'000;
  EXPECT_EQ(moved(after()), Lines{".envrc: guard .envrc"});
}

// Renaming a directory leaves the times of what is in it.
TEST_F(QuarantineTest, AfterAnIncompleteLookADirectoryThatWasRenamedIsNew) {
  tree.must("mkdir -p w/node_modules/h w/mine; touch w/node_modules/h/.envrc w/mine/.envrc");
  before();
  facts_.front().guarded.clear();  // as if neither had been seen
  facts_.front().complete = false;
  ::usleep(50'000);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  facts_.front().started = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  EXPECT_EQ(moved(after()), Lines{});  // control
  ::usleep(50'000);
  tree.must("cd w && mv node_modules/h h");
  EXPECT_EQ(moved(after()), Lines{"h/.envrc: guard .envrc"});
  EXPECT_TRUE(exists(tree / "w/mine/.envrc"));
}

// What git's configuration names only since the run began was writable: the user's own stays if nothing touched it.
TEST_F(QuarantineTest, WhatGitNamesSinceTheRunBeganIsJudged) {
  tree.must(
      "git init -q w && cd w && mkdir hooks tools && touch hooks/pre-commit tools/post-commit "
      "shared kept");
  ::usleep(50'000);
  before();
  ::usleep(50'000);
  git_user_.configurations = {tree / "settings"};
  tree.must(
      "git config -f settings core.hooksPath $PWD/w/hooks && git config -f settings include.path "
      "$PWD/w/shared && git config -f settings --add include.path $PWD/w/kept && "
      "git config -f settings --add core.hooksPath $PWD/w/tools");
  EXPECT_EQ(moved(after()), Lines{});  // control
  tree.must("cd w && echo evil >hooks/pre-commit && echo evil >shared");
  EXPECT_EQ(moved(after()), (Lines{"hooks: guard .git/hooks", "shared: guard .git/config"}));
  EXPECT_TRUE(exists(tree / "w/kept"));
  EXPECT_TRUE(exists(tree / "w/tools/post-commit"));
}

// A program of the host exchanges a repository with a symlink again and again. What the run has left in it is taken away, or the
// report says that something may remain.
TEST_F(QuarantineTest, WhatIsHiddenFromOneLookIsFoundByTheNext) {
  constexpr int kRounds = 100;
  int found = 0;
  for (int round = 0; round < kRounds; ++round) {
    tree.must("rm -rf w q && mkdir -p w/other && git init -q w/x");
    before();
    tree.write("w/x/.git/hooks/pre-commit", "evil");
    tree.must("chmod +x w/x/.git/hooks/pre-commit");
    const Path git = tree / "w/x/.git";
    const Path parked = tree / "w/x/parked";
    QuarantineReport report;
    {
      const std::jthread racer([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          ::rename(git.c_str(), parked.c_str());
          (void)!::symlink("../other", git.c_str());
          ::usleep(static_cast<useconds_t>(round % 10 * 30));
          ::unlink(git.c_str());
          ::rename(parked.c_str(), git.c_str());
          ::usleep(static_cast<useconds_t>(round / 10 * 30));
        }
      });
      report = after();
    }
    const bool left = exists(git + "/hooks/pre-commit") || exists(parked + "/hooks/pre-commit");
    found += report.total > 0 ? 1 : 0;
    EXPECT_FALSE(left && report.complete) << "round " << round;
  }
  EXPECT_GT(found, 0);
}

TEST_F(QuarantineTest, RootWithoutAFirstLookIsNotTouched) {
  tree.must("mkdir w && touch w/.envrc");
  workspace_ = tree / "w";
  const QuarantineReport report = after();
  EXPECT_EQ(moved(report), Lines{});
  EXPECT_EQ(report.notes.size(), 1u);
}

TEST_F(QuarantineTest, AllowedNamesStay) {
  tree.must("mkdir w");
  before();
  tree.must("touch w/.envrc && mkdir w/.vscode");
  const QuarantineReport report = quarantine({.roots = {workspace_},
                                              .names = {".vscode"},
                                              .mounted = {},
                                              .places = {},
                                              .versions = versions_},
                                             facts_, tree / "q");
  EXPECT_EQ(moved(report), Lines{".vscode: guard .vscode"});
  EXPECT_TRUE(exists(tree / "w/.envrc"));
}

// --- Across file systems ----------------------------------------------------------------------

class OtherFileSystemTest : public QuarantineTest {
 protected:
  void SetUp() override {
    struct stat here{};
    struct stat there{};
    ::stat(tree.path().c_str(), &here);
    ::stat(other.path().c_str(), &there);
    if (here.st_dev == there.st_dev) GTEST_SKIP() << "there is only one file system";
  }
  const TempTree other{test::fast_parent()};
};

TEST_F(OtherFileSystemTest, EverythingIsCopiedAndThenRemoved) {
  tree.must("mkdir w");
  before();
  tree.must(
      "cd w && mkdir -p .vscode/a/b .vscode/locked && cd .vscode && echo x >a/b/x &&"
      " chmod 640 a/b/x && touch -d 2001-01-01 a/b/x && ln -s /nowhere a/link && mkfifo pipe &&"
      " ln a/b/x hard && truncate -s 1T sparse && echo end >>sparse && echo s >locked/s &&"
      " chmod 000 locked/s locked && mkfifo ../.envrc");
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  (tree / "w/.vscode/socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(server);

  const QuarantineReport report = after(other / "q");
  EXPECT_EQ(moved(report), (Lines{".envrc: guard .envrc", ".vscode: guard .vscode"}));
  EXPECT_EQ(report.notes, Lines{});
  other.must(
      "cd q/0-w && [ -p .envrc ] && cd .vscode && [ -p pipe ] && [ -S socket ] &&"
      " [ $(readlink a/link) = /nowhere ] && [ $(cat hard) = x ] && [ $(cat a/b/x) = x ] &&"
      " [ $(stat -c %a a/b/x) = 640 ] && [ $(stat -c %Y a/b/x) -lt 1000000000 ] &&"
      " [ $(stat -c %s sparse) = 1099511627780 ] && [ $(tail -c 4 sparse) = end ] &&"
      " [ $(stat -c %a locked) = 0 ] && chmod 700 locked && [ $(stat -c %a locked/s) = 0 ] &&"
      " chmod 600 locked/s && [ $(cat locked/s) = s ]");
}

TEST_F(OtherFileSystemTest, HardLinksStayLinksOfOneCopy) {
  tree.must("mkdir w");
  before();
  tree.must(
      "cd w && mkdir -p .vscode/a .github/workflows && head -c 100000 /dev/urandom >.vscode/1 &&"
      " for i in 2 3 4 a/5; do ln .vscode/1 .vscode/$i; done && ln .vscode/1 .envrc &&"
      " ln .vscode/1 .github/workflows/x && echo other >.vscode/other && ln .vscode/other stays");
  const QuarantineReport report = after(other / "q");
  EXPECT_EQ(report.notes, Lines{});
  EXPECT_EQ(report.total, 3u);
  other.must(
      "cd q/0-w && [ $(stat -c %h .envrc) = 7 ] && for i in .vscode/1 .vscode/a/5 "
      ".github/workflows/x; do [ $(stat -c %i $i) = $(stat -c %i .envrc) ] || exit 1; done;"
      " [ $(stat -c %h .vscode/other) = 1 ] && [ $(du -sk . | cut -f1) -lt 250 ] &&"
      " [ -z \"$(find .. -name '.coop-links*')\" ]");
  tree.must("[ $(cat w/stays) = other ]");
}

TEST_F(OtherFileSystemTest, DepthDoesNotMatter) {
  tree.must("mkdir w");
  before();
  ASSERT_EQ(::mkdir((tree / "w/.vscode").c_str(), 0755), 0);
  const int deep = test::make_deep(tree / "w/.vscode", 500);
  ASSERT_EQ(::mkdirat(deep, "last", 0755), 0);
  ::close(deep);
  EXPECT_EQ(moved(after(other / "q")), Lines{".vscode: guard .vscode"});
  other.must("find q -name last | grep -q last");
}

TEST_F(OtherFileSystemTest, FailedCopyLeavesTheOriginalAndNoHalf) {
  tree.must("mkdir w");
  before();
  tree.must("mkdir w/.vscode && echo first >w/.vscode/a && echo second >w/.vscode/b");
  // A file longer than this process may write stands for a full disk.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{.rlim_cur = 1, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const QuarantineReport report = after(other / "q");
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(moved(report), Lines{".vscode: guard .vscode"});
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.moved[0].moved_to, tree / "w/.coop-quarantined-0");
  EXPECT_EQ(read_text(tree / "w/.coop-quarantined-0/a"), "first\n");
  EXPECT_EQ(read_text(tree / "w/.coop-quarantined-0/b"), "second\n");
  EXPECT_FALSE(exists(other / "q/0-w/.vscode"));
}

}  // namespace
}  // namespace coop::guards
