// A walk with an index against one without: both see the same, whatever happened to the tree in between.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "guards/walk.h"
#include "guards/workspace.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;

// Longer than a tick of the kernel's clock: below it a change may leave a ctime as it was.
void pass_a_tick() { ::usleep(12'000); }

TreeMemory memory_in(const Path& directory) {
  return {
      .directory = directory,
      .writing = TreeMemory::Writing::yes,
      .rules = {
          .too_young = std::chrono::nanoseconds(1), .fewest_rows = 1, .worth_writing = 100'000}};
}

WorkspaceFacts inspect(const Path& root, const TreeMemory& memory) {
  Result<WorkspaceFacts> facts = inspect_workspace(root, test::kGuards, {}, {}, memory);
  EXPECT_TRUE(facts);
  if (!facts) return {};
  facts->started = 0;
  return *std::move(facts);
}

std::vector<Path> guarded_in(const WorkspaceFacts& facts) {
  std::vector<Path> paths;
  for (const GuardedPath& guarded : facts.guarded) paths.push_back(guarded.path);
  return paths;
}

class IndexedWalkTest : public testing::Test {
 protected:
  void learn() {
    pass_a_tick();
    inspect(tree_ / "w", memory_);
    pass_a_tick();
  }
  void expect_seen(const std::string& path) {
    const WorkspaceFacts with = inspect(tree_ / "w", memory_);
    EXPECT_EQ(with, inspect(tree_ / "w", {}));
    EXPECT_TRUE(contains(guarded_in(with), tree_ / path)) << path;
  }

  const TempTree tree_{test::fast_parent()};
  const TreeMemory memory_ = memory_in(tree_ / "indexes");
};

TEST_F(IndexedWalkTest, ADirectoryThatTakesTheNameOfAnotherDuringTheWalkIsSeen) {
  tree_.must("mkdir -p w/a/b w/d x/.git/hooks; touch w/.envrc; mkdir w/.vscode");
  learn();
  const auto seen = [&](const std::string& hooks, const std::string& change) {
    const GuardNames names(test::kGuards);
    // The paths of guarded files are passed to a function from the second on.
    GuardWalk walk(names, WalkLimits{.path_bytes = 0}, {tree_ / "w"}, nullptr,
                   [&](DirectoryStack&, const std::string&, const GuardedPath&) {
                     tree_.must(change);
                     return Spilled::left;
                   });
    EXPECT_TRUE(walk.tree(tree_ / "w", {.directory = tree_ / "indexes"}));
    return contains(guarded_in(WorkspaceFacts{.guarded = walk.take_guarded()}), tree_ / hooks);
  };
  // The control: the index is trusted, so that what is made below after the comparison is not seen by this walk.
  EXPECT_FALSE(seen("w/a/b/.git/hooks", "mkdir -p w/a/b/.git/hooks"));
  tree_.must("rm -r w/a/b/.git");
  learn();
  EXPECT_TRUE(seen("w/a/.git/hooks", "[ -d x ] && mv w/a y && mv x w/a || true"));
}

TEST_F(IndexedWalkTest, TheIndexIsUsed) {
  tree_.must("mkdir -p w/a/b/c w/d; git init -q w");
  learn();
  const Result<UniqueFd> root = open_file(tree_ / "w", O_RDONLY | O_DIRECTORY);
  const IndexPlace place{tree_ / "indexes", tree_ / "w",
                         GuardNames(test::kGuards).interesting_key()};
  const TreeIndex index = TreeIndex::read(place, root->get());
  std::vector<std::string> settled;
  for (std::uint32_t row = 1; row < index.size(); ++row)
    if (index.is_settled(row)) settled.emplace_back(index.name(row));
  for (const char* const name : {"a", "b", "c", "d"})
    EXPECT_TRUE(contains(settled, std::string(name))) << name;
}

TEST_F(IndexedWalkTest, ANewFileDeepBelowIsSeen) {
  tree_.must("mkdir -p w/a/b/c w/d");
  learn();
  tree_.must("mkdir w/a/b/c/.vscode");
  expect_seen("w/a/b/c/.vscode");
}

TEST_F(IndexedWalkTest, AFileThatWasThereBetweenTwoLooksIsSeenTheSecondTime) {
  tree_.must("mkdir -p w/a/b");
  learn();
  tree_.must("touch w/a/b/.envrc; rm w/a/b/.envrc");
  learn();
  tree_.must("touch w/a/b/.envrc");
  expect_seen("w/a/b/.envrc");
}

TEST_F(IndexedWalkTest, ADirectoryMovedIntoPlaceIsSeen) {
  tree_.must("mkdir -p w/a/b evil/.vscode");
  learn();
  tree_.must("rmdir w/a/b; mv evil w/a/b");
  expect_seen("w/a/b/.vscode");
}

TEST_F(IndexedWalkTest, ATreeMovedOutOfPackagesIsSeen) {
  tree_.must("mkdir -p w/node_modules/x/y w/src; mkdir w/node_modules/x/y/.vscode");
  learn();
  tree_.must("mv w/node_modules/x w/src/x");
  expect_seen("w/src/x/y/.vscode");
}

TEST_F(IndexedWalkTest, PackagesThatGetAnotherNameAreSeen) {
  tree_.must("mkdir -p w/node_modules/x/y/.vscode");
  learn();
  tree_.must("mv w/node_modules w/mine");
  expect_seen("w/mine/x/y/.vscode");
}

// Each step as a run of its own, with the index of the one before.
TEST_F(IndexedWalkTest, WhatIsMadeBehindALinkIntoPackagesIsSeen) {
  tree_.must("mkdir -p w/app/sub w/node_modules w/src; touch w/app/main.js");
  learn();
  tree_.must("mv w/app w/node_modules/app; ln -s ../node_modules/app w/src/app");
  learn();
  learn();
  tree_.must("touch w/node_modules/app/sub/.envrc");
  expect_seen("w/node_modules/app/sub/.envrc");
}

TEST_F(IndexedWalkTest, ALinkThatLeadsNowhereIsLookedAtAgain) {
  tree_.must("mkdir -p w/src w/deep/node_modules; ln -s ../deep/node_modules/app w/src/app");
  learn();
  learn();
  tree_.must("mkdir -p w/deep/node_modules/app/.vscode");
  expect_seen("w/deep/node_modules/app/.vscode");
}

// The link in src leads through lib, which becomes a link later; and one leads out of packages at first.
TEST_F(IndexedWalkTest, ALinkWhoseWayChangesIsFollowed) {
  tree_.must(
      "mkdir -p w/src w/lib/app w/node_modules w/real; ln -s ../lib/app w/src/app;"
      "ln -s ../node_modules/out w/src/out; ln -s ../real w/node_modules/out;"
      "ln -s ../lib/../other w/src/other");
  learn();
  learn();
  tree_.must("mv w/lib w/node_modules/lib; ln -s node_modules/lib w/lib");
  tree_.must("mkdir w/node_modules/lib/app/.vscode");
  expect_seen("w/node_modules/lib/app/.vscode");
  learn();
  tree_.must("rm w/node_modules/out; mkdir -p w/node_modules/out/.vscode");
  expect_seen("w/node_modules/out/.vscode");
  learn();
  tree_.must("mkdir -p w/node_modules/other/.vscode");
  expect_seen("w/node_modules/other/.vscode");
}

TEST_F(IndexedWalkTest, WhatBecomesAGitDirectoryIsSeen) {
  tree_.must("mkdir -p w/g/modules/m/hooks w/g/objects w/g/refs; touch w/g/modules/m/x");
  learn();
  tree_.must("touch w/g/HEAD");
  pass_a_tick();
  const WorkspaceFacts with = inspect(tree_ / "w", memory_);
  EXPECT_EQ(with, inspect(tree_ / "w", {}));
  EXPECT_FALSE(with.git.empty());
}

TEST_F(IndexedWalkTest, AnUnreadableDirectoryIsNotForgotten) {
  if (::geteuid() == 0) GTEST_SUCCEED();  // root reads it; the walk must not crash
  tree_.must("mkdir -p w/a/locked/.vscode w/b; chmod 000 w/a/locked");
  learn();
  expect_seen("w/a/locked/.vscode");
}

TEST_F(IndexedWalkTest, OnlyLookingWritesNothing) {
  tree_.must("mkdir -p w/a/b");
  TreeMemory memory = memory_;
  memory.writing = TreeMemory::Writing::no;
  inspect(tree_ / "w", memory);
  EXPECT_FALSE(test::exists(tree_ / "indexes"));
}

// --- With events of inotify ------------------------------------------------------------------

class WatchedWalkTest : public IndexedWalkTest {
 protected:
  // Twice: what is new is watched by the second.
  void learn_and_watch() {
    for (int round = 0; round < 2; ++round) {
      pass_a_tick();
      TreeMemory memory = watched();
      memory.learning = TreeMemory::Learning::yes;
      inspect(tree_ / "w", memory);
    }
    pass_a_tick();
  }
  TreeMemory watched() const {
    TreeMemory memory = memory_;
    memory.watch = watch_.get();
    return memory;
  }
  void expect_seen(const std::string& path) {
    const WorkspaceFacts with = inspect(tree_ / "w", watched());
    EXPECT_EQ(with, inspect(tree_ / "w", {}));
    EXPECT_TRUE(contains(guarded_in(with), tree_ / path)) << path;
  }

  const std::unique_ptr<TreeWatch> watch_ = std::move(*TreeWatch::make());
};

TEST_F(WatchedWalkTest, ANewFileDeepBelowIsSeen) {
  tree_.must("mkdir -p w/a/b/c w/d");
  learn_and_watch();
  tree_.must("mkdir w/a/b/c/.vscode");
  expect_seen("w/a/b/c/.vscode");
  expect_seen("w/a/b/c/.vscode");  // also when nothing was learned from the look before
}

TEST_F(WatchedWalkTest, WhatWasThereForAMomentIsSeenWhenItComesBack) {
  tree_.must("mkdir -p w/a/b");
  learn_and_watch();
  tree_.must("touch w/a/b/.envrc; rm w/a/b/.envrc");
  learn_and_watch();
  tree_.must("touch w/a/b/.envrc");
  expect_seen("w/a/b/.envrc");
}

TEST_F(WatchedWalkTest, ADirectoryMovedIntoPlaceIsSeen) {
  tree_.must("mkdir -p w/a/b evil/.vscode");
  learn_and_watch();
  tree_.must("rmdir w/a/b; mv evil w/a/b");
  expect_seen("w/a/b/.vscode");
}

TEST_F(WatchedWalkTest, ADirectoryThatWasMovedIsSeenWithWhatIsInIt) {
  tree_.must("mkdir -p w/a/b/c w/d");
  learn_and_watch();
  tree_.must("mv w/a/b w/d/b; mkdir w/d/b/c/.vscode");
  expect_seen("w/d/b/c/.vscode");
  learn_and_watch();
  tree_.must("mkdir w/d/b/.vscode");
  expect_seen("w/d/b/.vscode");
}

TEST_F(WatchedWalkTest, WhatIsBelowADirectoryThatWasReplacedIsSeen) {
  tree_.must("mkdir -p w/A/B w/E/B w/n");
  learn_and_watch();
  // No event in A/B: it is the same directory, elsewhere.
  tree_.must("mkdir w/E/B/.vscode");
  learn_and_watch();
  tree_.must("mv w/A w/A2; mv w/E w/A");
  expect_seen("w/A/B/.vscode");
}

TEST_F(WatchedWalkTest, AlsoBelowOneThatHasNoWatch) {
  tree_.must("mkdir -p w/A/B w/n; touch w/A/config");  // not plain
  learn_and_watch();
  tree_.must("mkdir -p E/B/.vscode; mv w/A A2; mv E w/A");
  expect_seen("w/A/B/.vscode");
}

TEST_F(WatchedWalkTest, AlsoIfTheTwoAreExchanged) {
  tree_.must("mkdir -p w/A/B/C w/E/B/C/.vscode w/n");
  learn_and_watch();
  ASSERT_EQ(::renameat2(AT_FDCWD, (tree_ / "w/A").c_str(), AT_FDCWD, (tree_ / "w/E").c_str(),
                        RENAME_EXCHANGE),
            0);
  expect_seen("w/A/B/C/.vscode");
}

TEST_F(WatchedWalkTest, WhatIsMadeBehindALinkIntoPackagesIsSeen) {
  tree_.must("mkdir -p w/src w/node_modules/app/sub; ln -s ../node_modules/app w/src/app");
  learn_and_watch();
  tree_.must("touch w/node_modules/app/sub/.envrc");
  expect_seen("w/node_modules/app/sub/.envrc");
  tree_.must("mkdir -p w/node_modules/new; ln -s ../node_modules/new w/src/new");
  learn_and_watch();
  tree_.must("mkdir w/node_modules/new/.vscode");
  expect_seen("w/node_modules/new/.vscode");
}

TEST_F(WatchedWalkTest, EventsThatWereLostAreNotTakenForQuiet) {
  tree_.must("mkdir -p w/a/b w/c");
  learn_and_watch();
  const int most = std::stoi(test::read_text("/proc/sys/fs/inotify/max_queued_events"));
  for (int event = 0; event <= most; event += 2) {
    ASSERT_EQ(::mkdir((tree_ / "w/c/x").c_str(), 0755), 0);
    ASSERT_EQ(::rmdir((tree_ / "w/c/x").c_str()), 0);
  }
  tree_.must("mkdir w/a/b/.vscode");
  expect_seen("w/a/b/.vscode");
}

// --- Generated changes -----------------------------------------------------------------------

class Changes {
 public:
  Changes(Path root, unsigned seed) : root_(std::move(root)), random_(seed) {}

  void one() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const Path path = somewhere();
    switch (pick(7)) {
      case 0:
      case 1: fs::create_directories(path, ignored); break;
      case 2: std::ofstream(path) << "x"; break;
      case 3: fs::remove_all(path, ignored); break;
      case 4: fs::rename(path, somewhere(), ignored); break;
      case 5: fs::create_symlink(target(), path, ignored); break;
      case 6: fs::rename(somewhere(), path, ignored); break;
      default: break;
    }
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  Path target() {
    const std::vector<std::string> targets{"../a",
                                           "b",
                                           "node_modules/a",
                                           "../node_modules/a",
                                           "../node_modules",
                                           "a/../b",
                                           "../../node_modules/b/a",
                                           join(root_, "node_modules"),
                                           "/proc/self/cwd/no-such-directory/node_modules"};
    return targets[pick(targets.size())];
  }
  Path somewhere() {
    static const std::vector<std::string> kNames{
        "a",    "b",       "c",         "d",       "node_modules", ".git",   "HEAD",  "objects",
        "refs", "modules", "worktrees", ".vscode", "config",       ".envrc", "hooks", "commondir"};
    Path path = root_;
    // Plain names more often.
    for (std::size_t left = 1 + pick(4); left > 0; --left)
      path = join(path, kNames[pick(3) > 0 ? pick(5) : pick(kNames.size())]);
    return path;
  }

  Path root_;
  std::mt19937 random_;
};

void compare_walks(TreeWatch* watch) {
  std::size_t used = 0;
  std::size_t linked = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const TempTree tree(test::fast_parent());
    std::filesystem::create_directory(tree / "w");
    TreeMemory memory = memory_in(tree / "indexes");
    memory.watch = watch;
    Changes changes(tree / "w", seed);
    for (int change = 0; change < 60; ++change) changes.one();
    for (int step = 0; step < 12; ++step) {
      pass_a_tick();
      memory.learning = step % 3 == 0 ? TreeMemory::Learning::no : TreeMemory::Learning::yes;
      const WorkspaceFacts with = inspect(tree / "w", memory);
      ASSERT_EQ(with, inspect(tree / "w", {})) << "seed " << seed << " step " << step;
      used += test::exists(tree / "indexes") ? 1 : 0;
      linked += with.package_links.empty() ? 0 : 1;
      pass_a_tick();
      for (int change = 0; change < 3; ++change) changes.one();
    }
  }
  EXPECT_GT(used, 100U);   // control: there was an index to compare with
  EXPECT_GT(linked, 30U);  // and links into packages
}

TEST(IndexedWalkPropertyTest, SeesWhatAWalkWithoutAnIndexSees) { compare_walks(nullptr); }

TEST(IndexedWalkPropertyTest, SoDoesOneThatGoesByEvents) {
  const std::unique_ptr<TreeWatch> watch = std::move(*TreeWatch::make());
  compare_walks(watch.get());
}

}  // namespace
}  // namespace coop::guards
