#include "guards/records/made_inside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/workspace.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;
using testing::ElementsAre;
using testing::IsEmpty;
using Paths = std::vector<std::string>;

// A workspace "w" that is the user's repository, with another one of the user's in it.
class MadeInsideTest : public testing::Test {
 protected:
  MadeInsideTest() { tree.must("mkdir w; cd w; git init -q .; git init -q user"); }

  WorkspaceFacts look() {
    Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", names);
    EXPECT_TRUE(facts) << to_text(facts.error());
    if (!facts) return {};
    MadeInside::read(record).set_apart(*facts, tree / "w");
    return *facts;
  }
  // A run in which `script` is what the sandbox does.
  void run(const std::string& script) {
    const std::vector<WorkspaceFacts> before{look()};
    tree.must("cd w; " + script);
    const Result<WorkspaceFacts> now = inspect_again(tree / "w", names, before.front());
    ASSERT_TRUE(now);
    const std::vector<Path> roots{tree / "w"};
    ASSERT_TRUE(remember_made(record, names, before, now->git, roots));
  }
  Paths made() {
    Paths paths;
    for (const GitDirectory& git : look().made_inside)
      paths.emplace_back(relative_to(git.path, tree / "w"));
    return paths;
  }
  Paths guarded() {
    Paths paths;
    for (const GuardedPath& path : look().guarded)
      paths.emplace_back(relative_to(path.path, tree / "w"));
    return paths;
  }

  const std::vector<std::string> names{".git", ".git/config", ".git/hooks", ".git/info/attributes",
                                       ".git/rebase-merge/git-rebase-todo"};
  TempTree tree{};
  const Path record = tree / "record";
};

TEST_F(MadeInsideTest, WhatARunMadeIsSetApartInTheNext) {
  const Paths before = guarded();
  run("git init -q new; git init -q --bare bare.git; git commit -q --allow-empty -m x; "
      "git worktree add -q tree");
  EXPECT_THAT(made(), ElementsAre(".git/worktrees/tree", "bare.git", "new/.git"));
  EXPECT_EQ(guarded(), before);
  // Moved by the sandbox they are the same.
  run("mv new other; git -C other config remote.x.url https://example.com/x");
  EXPECT_THAT(made(), ElementsAre(".git/worktrees/tree", "bare.git", "other/.git"));
  EXPECT_EQ(guarded(), before);
}

// `git worktree prune` inside would remove what the user's worktree needs.
TEST_F(MadeInsideTest, ARepositoryWithAWorktreeOfTheUsersIsTheUsers) {
  run("git init -q new; git -C new commit -q --allow-empty -m x; git init -q other");
  EXPECT_THAT(made(), ElementsAre("new/.git", "other/.git"));
  tree.must("git -C w/new worktree add -q ../../elsewhere");
  EXPECT_THAT(made(), ElementsAre("other/.git"));
}

TEST_F(MadeInsideTest, WhatTheUserChangesIsTheUsers) {
  run("git init -q a; git init -q b; git init -q c; git init -q d");
  EXPECT_EQ(made().size(), 4U);
  tree.must(
      "cd w; git -C a config core.editor vi; cp /bin/true b/.git/hooks/pre-commit; "
      "echo '* text' > c/.git/info/attributes");
  EXPECT_THAT(made(), ElementsAre("d/.git"));
  EXPECT_THAT(guarded(), testing::Contains("b/.git/hooks"));
  // A later run does not claim it again.
  run("true");
  EXPECT_THAT(made(), ElementsAre("d/.git"));
}

TEST_F(MadeInsideTest, WhatWasThereBeforeIsNeverClaimed) {
  // Without its HEAD a submodule is not seen as a git directory, and the sandbox can remove that.
  tree.must("mkdir -p w/.git/modules/sub; cd w/.git/modules/sub; git init -q --bare .");
  run("rm .git/modules/sub/HEAD");
  run("echo 'ref: refs/heads/main' > .git/modules/sub/HEAD");
  EXPECT_THAT(made(), IsEmpty());
  // The host replaced it: what is mounted cannot be moved from inside.
  run("rm -rf user; git init -q user");
  EXPECT_THAT(made(), IsEmpty());
  // The workspace's own repository is the user's, also when a sandbox made it.
  run("rm -rf .git; git init -q .");
  EXPECT_THAT(made(), IsEmpty());
  run("git init -q new");  // control
  EXPECT_THAT(made(), ElementsAre("new/.git"));
}

TEST_F(MadeInsideTest, WhatItsContentsDecideStaysKnown) {
  run("git init -q new");
  tree.must(
      "mkdir -p w/new/.git/rebase-merge; echo 'exec make' > "
      "w/new/.git/rebase-merge/git-rebase-todo");
  EXPECT_THAT(made(), ElementsAre("new/.git"));
  EXPECT_THAT(guarded(), testing::Contains("new/.git/rebase-merge/git-rebase-todo"));
}

TEST_F(MadeInsideTest, ARecordThatOthersCanWriteIsNoRecord) {
  run("git init -q new");
  EXPECT_EQ(made().size(), 1U);
  tree.must("chmod 666 record");
  EXPECT_THAT(made(), IsEmpty());
  tree.must("chmod 600 record; mv record real; ln -s real record");
  EXPECT_THAT(made(), IsEmpty());
  tree.must("rm record; head -c 2000000 /dev/zero > record; chmod 600 record");
  EXPECT_THAT(made(), IsEmpty());
}

TEST_F(MadeInsideTest, OneRunCannotPushOutTheRecordOfOthers) {
  run("git init -q new");
  run("mkdir many; for i in $(seq 150); do mkdir -p many/$i/.git/hooks; done");
  EXPECT_EQ(made().size(), 101U);
}

}  // namespace
}  // namespace coop::guards
