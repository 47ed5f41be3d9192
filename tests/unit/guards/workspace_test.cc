#include "guards/workspace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "guards/git/directory.h"
#include "guards/names.h"
#include "guards/walk.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;

// Each guarded path as "relative path: guard", with what else is remarkable about it.
std::vector<std::string> summary(const WorkspaceFacts& facts, const Path& root) {
  std::vector<std::string> lines;
  for (const GuardedPath& found : facts.guarded) {
    const bool inside = is_within(found.path, root);
    std::string line(inside ? relative_to(found.path, root) : std::string_view(found.path));
    line += ": " + found.guard;
    if (found.harmless) line += " harmless";
    if (!found.link.empty()) line += " -> " + found.link;
    if (!found.through.empty()) line += " through " + std::string(relative_to(found.through, root));
    lines.push_back(line);
  }
  return lines;
}

WorkspaceFacts look(const Path& root) {
  Result<WorkspaceFacts> facts = inspect_workspace(root, test::kGuards);
  if (!facts) {
    ADD_FAILURE() << to_text(facts.error());
    return {};
  }
  return *facts;
}

using Lines = std::vector<std::string>;

TEST(GitFileTest, IsReadAsGitReadsIt) {
  EXPECT_EQ(parse_gitfile("gitdir: ../x\n"), "../x");
  EXPECT_EQ(parse_gitfile("gitdir: /a b\r\n\n"), "/a b");
  EXPECT_EQ(parse_gitfile("gitdir: a\nb"), "a\nb");
  EXPECT_EQ(parse_gitfile("gitdir:  x"), " x");
  EXPECT_EQ(parse_gitfile("gitdir: \n"), std::nullopt);
  EXPECT_EQ(parse_gitfile("gitdir:x"), std::nullopt);
  EXPECT_EQ(parse_gitfile(""), std::nullopt);
  EXPECT_EQ(parse_gitfile(std::string_view("gitdir: a\0b", 11)), std::nullopt);
}

TEST(GitConfigTest, ValueOfAKeyIsFound) {
  const auto worktree = [](std::string_view text) {
    return config_value(text, "core", "worktree");
  };
  EXPECT_EQ(worktree("[core]\n\tworktree = ../../x\n"), "../../x");
  EXPECT_EQ(worktree("[CORE] WorkTree=a b  ; note\n"), "a b");
  EXPECT_EQ(worktree("[core]\nworktree = \"a # b\\\\\\\"\" c \n"), "a # b\\\" c");
  EXPECT_EQ(worktree("[core]\nworktree = a\\\nb\n"), "ab");
  EXPECT_EQ(worktree("[core]\nbare\nworktree = a\n[core]\nworktree = b"), "b");
  EXPECT_EQ(worktree("# x\n[core \"worktree\"]\nworktree = a\n"), std::nullopt);
  EXPECT_EQ(worktree("[user]\nworktree = a\n"), std::nullopt);
  EXPECT_EQ(worktree("[core]\nworktree = \"a\n"), std::nullopt);
  EXPECT_EQ(worktree("[core]\nworktree = a\\x\n"), std::nullopt);
  EXPECT_EQ(worktree("[core\nworktree = a\n"), std::nullopt);
}

TEST(WorkspaceTest, PlainRepositoryListsItsGuards) {
  const TempTree tree;
  tree.must(
      "git init -q . && mkdir -p .vscode .github/workflows .claude src/.vscode"
      " && touch .envrc .claude/settings.json .git/info/attributes");
  const WorkspaceFacts facts = look(tree.path());
  EXPECT_EQ(
      summary(facts, tree.path()),
      (Lines{".claude/settings.json: .claude/settings.json", ".envrc: .envrc",
             ".git/config: .git/config", ".git/hooks: .git/hooks",
             ".git/info/attributes: .git/info/attributes", ".github/workflows: .github/workflows",
             ".vscode: .vscode", "src/.vscode: .vscode"}));
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.outside_git, std::vector<Path>{});
}

TEST(WorkspaceTest, FactsIdentifyTheFile) {
  const TempTree tree;
  tree.must("touch .envrc && ln .envrc other && mkdir .vscode");
  struct stat status{};
  ASSERT_EQ(::lstat((tree / ".envrc").c_str(), &status), 0);
  const WorkspaceFacts facts = look(tree.path());
  ASSERT_EQ(facts.guarded.size(), 2u);
  struct statx more{};
  ASSERT_EQ(::statx(AT_FDCWD, (tree / ".envrc").c_str(), 0, STATX_BTIME, &more), 0);
  const bool known = (more.stx_mask & STATX_BTIME) != 0;
  const GuardedPath expected{
      .path = tree / ".envrc",
      .guard = ".envrc",
      .device = status.st_dev,
      .inode = status.st_ino,
      .born =
          known ? std::int64_t{more.stx_btime.tv_sec} * 1'000'000'000 + more.stx_btime.tv_nsec : 0,
      .changed = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec,
      .links = 2};
  EXPECT_EQ(facts.guarded[0], expected);
  EXPECT_TRUE(facts.guarded[1].directory);
}

TEST(WorkspaceTest, NestedAndBareRepositoriesAreFound) {
  const TempTree tree;
  tree.must(
      "git init -q a/b/c && git init -q --bare store.git && mkdir a/b/c/.vscode a/.vscode"
      " && rm -r store.git/info && mkdir notgit && touch notgit/HEAD notgit/config");
  EXPECT_EQ(summary(look(tree.path()), tree.path()),
            (Lines{"a/.vscode: .vscode", "a/b/c/.git/config: .git/config",
                   "a/b/c/.git/hooks: .git/hooks", "a/b/c/.vscode: .vscode",
                   "store.git/config: .git/config", "store.git/hooks: .git/hooks"}));
}

void make_superproject(const TempTree& tree) {
  tree.must(
      "git init -q lib && cd lib && git commit -q --allow-empty -m x && cd .. &&"
      " git init -q super && cd super &&"
      " git -c protocol.file.allow=always submodule --quiet add ../lib deps/lib &&"
      " git commit -q -m s");
}

TEST(WorkspaceTest, SubmodulesAreHarmlessAndTheirGuardsListed) {
  const TempTree tree;
  make_superproject(tree);
  const WorkspaceFacts facts = look(tree / "super");
  EXPECT_EQ(summary(facts, tree / "super"),
            (Lines{".git/config: .git/config", ".git/hooks: .git/hooks",
                   ".git/modules/deps/lib/config: .git/config",
                   ".git/modules/deps/lib/hooks: .git/hooks", "deps/lib/.git: .git harmless"}));
  EXPECT_EQ(facts.outside_git, std::vector<Path>{});
}

TEST(WorkspaceTest, SubmoduleCheckoutAsWorkspaceFindsItsGitDirectory) {
  const TempTree tree;
  make_superproject(tree);
  const WorkspaceFacts facts = look(tree / "super/deps/lib");
  const Path git = tree / "super/.git/modules/deps/lib";
  EXPECT_EQ(facts.outside_git, std::vector<Path>{git});
  Lines expected{".git: .git harmless", git + "/config: .git/config", git + "/hooks: .git/hooks"};
  Lines found = summary(facts, tree / "super/deps/lib");
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
}

TEST(WorkspaceTest, LinkedWorktreeAsWorkspaceFindsTheCommonDirectory) {
  const TempTree tree;
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x &&"
      " git worktree add -q ../tree && mkdir notes && touch .envrc &&"
      " touch .git/worktrees/tree/config.worktree");
  const WorkspaceFacts facts = look(tree / "tree");
  const Path git = tree / "main/.git";
  EXPECT_EQ(facts.outside_git, std::vector<Path>{git});
  EXPECT_EQ(summary(facts, tree / "tree"),
            (Lines{git + "/config: .git/config", git + "/hooks: .git/hooks",
                   git + "/worktrees/tree/commondir: .git harmless",
                   git + "/worktrees/tree/config.worktree: .git/config.worktree",
                   ".git: .git harmless"}));
}

TEST(WorkspaceTest, SubmoduleInALinkedWorktreeIsHarmless) {
  const TempTree tree;
  make_superproject(tree);
  tree.must(
      "cd super && git worktree add -q ../tree && cd ../tree &&"
      " git -c protocol.file.allow=always submodule --quiet update --init");
  const WorkspaceFacts facts = look(tree / "tree");
  const auto found =
      std::ranges::find(facts.guarded, tree / "tree/deps/lib/.git", &GuardedPath::path);
  ASSERT_NE(found, facts.guarded.end());
  EXPECT_TRUE(found->harmless);
}

TEST(WorkspaceTest, ForgedGitFileOpensNothingOutside) {
  const TempTree tree;
  tree.must("git init -q victim && mkdir w && git init -q --bare home");
  for (const std::string target : {"/victim/.git", "/home", "", "/victim"}) {
    tree.write("w/.git", "gitdir: " + tree.path() + target + "\n");
    const WorkspaceFacts facts = look(tree / "w");
    EXPECT_EQ(facts.outside_git, std::vector<Path>{}) << target;
    EXPECT_EQ(summary(facts, tree / "w"), Lines{".git: .git"}) << target;
  }
}

// The pointers back must come from outside: inside, the sandbox can write both ends.
TEST(WorkspaceTest, PointersBackFromInsideProveNothing) {
  const TempTree tree;
  tree.must(
      "git init -q victim && cd victim && git commit -q --allow-empty -m x && cd .. &&"
      " mkdir -p w/x/worktrees/n && cd w/x/worktrees/n && echo ref: x >HEAD");
  tree.write("w/x/worktrees/n/gitdir", tree / "w/.git\n");
  tree.write("w/x/worktrees/n/commondir", tree / "victim/.git\n");
  tree.write("w/.git", "gitdir: x/worktrees/n\n");
  const WorkspaceFacts facts = look(tree / "w");
  EXPECT_EQ(facts.outside_git, std::vector<Path>{});
  EXPECT_EQ(summary(facts, tree / "w"), (Lines{".git: .git", "x/worktrees/n/commondir: .git"}));
}

TEST(WorkspaceTest, WorktreeOfAnotherPlaceIsNotOurs) {
  const TempTree tree;
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x &&"
      " git worktree add -q ../tree && mkdir ../w && cp ../tree/.git ../w/.git");
  EXPECT_EQ(look(tree / "w").outside_git, std::vector<Path>{});
  EXPECT_EQ(look(tree / "tree").outside_git, std::vector<Path>{tree / "main/.git"});
}

TEST(WorkspaceTest, GitDirectoryAroundTheWorkspaceIsNotOpened) {
  const TempTree tree;
  tree.must(
      "git init -q m && cd m && git commit -q --allow-empty -m x && cd .. &&"
      " git clone -q --bare m b.git && cd b.git && git worktree add -q inside");
  EXPECT_EQ(look(tree / "b.git/inside").outside_git, std::vector<Path>{});
}

TEST(WorkspaceTest, DetoursOfGitAreGuarded) {
  const TempTree tree;
  tree.must(
      "git init -q . && mkdir evil sub && echo ../evil >.git/commondir &&"
      " mkdir -p .git/modules/a && ln -s ../../evil .git/modules/x &&"
      " ln -s ../../../evil .git/modules/a/y && ln -s ../evil .git/worktrees &&"
      " ln -s ../evil sub/.git && rm -r .git/info && ln -s ../evil .git/info");
  EXPECT_EQ(summary(look(tree.path()), tree.path()),
            (Lines{".git/commondir: .git", ".git/config: .git/config", ".git/hooks: .git/hooks",
                   ".git/info: .git/info/attributes -> ../evil",
                   ".git/modules/a/y: .git -> ../../../evil", ".git/modules/x: .git -> ../../evil",
                   ".git/worktrees: .git -> ../evil", "sub/.git: .git -> ../evil"}));
}

TEST(WorkspaceTest, GitFileThroughASymlinkIsNotHarmless) {
  const TempTree tree;
  make_superproject(tree);
  tree.must("cd super && ln -s .git g && echo 'gitdir: ../../g/modules/deps/lib' >deps/lib/.git");
  const WorkspaceFacts facts = look(tree / "super");
  EXPECT_FALSE(facts.guarded.back().harmless);
  EXPECT_EQ(facts.guarded.back().path, tree / "super/deps/lib/.git");
}

TEST(WorkspaceTest, TargetOfAGuardedSymlinkIsListedToo) {
  const TempTree tree;
  tree.must(
      "mkdir -p shared/claude && touch shared/rc shared/claude/settings.json &&"
      " ln -s shared/rc .envrc && ln -s /etc .vscode && ln -s shared/claude .claude");
  EXPECT_EQ(summary(look(tree.path()), tree.path()),
            (Lines{".claude: .claude/settings.json -> shared/claude", ".envrc: .envrc -> shared/rc",
                   ".vscode: .vscode -> /etc",
                   "shared/claude/settings.json: .claude/settings.json through .claude",
                   "shared/rc: .envrc through .envrc"}));
}

TEST(WorkspaceTest, LockedDirectoriesAreLookedIntoAndLockedAgain) {
  const TempTree tree;
  tree.must(
      "git init -q a/b && rm -r a/b/.git/info && mkdir -p .github/workflows &&"
      " chmod 000 a/b/.git a/b .github && chmod 400 a");
  const WorkspaceFacts facts = look(tree.path());
  EXPECT_EQ(summary(facts, tree.path()),
            (Lines{".github/workflows: .github/workflows", "a/b/.git/config: .git/config",
                   "a/b/.git/hooks: .git/hooks"}));
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(mode_t{0400}, test::mode_of(tree / "a"));
  EXPECT_EQ(mode_t{0}, test::mode_of(tree / ".github"));
  tree.must("chmod 700 a");
  EXPECT_EQ(mode_t{0}, test::mode_of(tree / "a/b"));
}

TEST(WorkspaceTest, LockedRootIsLookedInto) {
  const TempTree tree;
  tree.must("mkdir w && touch w/.envrc && chmod 000 w");
  EXPECT_EQ(summary(look(tree / "w"), tree / "w"), Lines{".envrc: .envrc"});
  EXPECT_EQ(mode_t{0}, test::mode_of(tree / "w"));
}

TEST(WorkspaceTest, StrangeNamesAreKeptAsTheyAre) {
  const TempTree tree;
  const std::string name = "new\nline\xff\x01 " + std::string(240, 'x');
  ASSERT_EQ(::mkdir((tree / name).c_str(), 0755), 0);
  ASSERT_EQ(::mkdir((tree / name + "/.git").c_str(), 0755), 0);
  tree.write(name + "/.git/config", "");
  EXPECT_EQ(summary(look(tree.path()), tree.path()), Lines{name + "/.git/config: .git/config"});
}

TEST(WorkspaceTest, DepthCostsNeitherStackNorDescriptors) {
  const TempTree tree(test::fast_parent());
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  const int deep = test::make_deep(tree.path(), 30'000);
  ASSERT_EQ(::mkdirat(deep, ".git", 0755), 0);
  ASSERT_EQ(::mkdirat(deep, ".git/hooks", 0755), 0);
  ::close(deep);
  const rlimit few{.rlim_cur = 128, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const WorkspaceFacts facts = look(tree.path());
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_TRUE(facts.complete);
  ASSERT_EQ(facts.guarded.size(), 1u);  // the deepest directory that is still listed
  EXPECT_EQ(facts.guarded[0].guard, ".git/hooks");
  EXPECT_LE(facts.guarded[0].path.size(), 16384u);
  EXPECT_GE(facts.guarded[0].path.size(), 16380u);
}

TEST(WorkspaceTest, LimitsMakeTheLookIncomplete) {
  const TempTree tree;
  tree.must("mkdir -p a b c d/.git/hooks && touch a/1 a/2 a/3");
  const GuardNames names(test::kGuards);
  GuardWalk few(names, WalkLimits{.entries = 4}, {tree.path()});
  ASSERT_TRUE(few.tree(tree.path()));
  EXPECT_FALSE(few.complete());
  GuardWalk enough(names, WalkLimits{.entries = 9}, {tree.path()});
  ASSERT_TRUE(enough.tree(tree.path()));
  EXPECT_TRUE(enough.complete());
  GuardWalk short_paths(names, WalkLimits{.path_bytes = 4}, {tree.path()});
  ASSERT_TRUE(short_paths.tree(tree.path()));
  EXPECT_FALSE(short_paths.complete());
}

// A walk that is interrupted between listing a directory and entering those in it: what does not fit is passed to `spill`.
struct Interrupted {
  GuardWalk::Stop stop = GuardWalk::Stop::none;
  bool complete = false;
  std::vector<Path> guarded{};
};
Interrupted walk_while(const TempTree& tree, const std::string& change) {
  const GuardNames names(test::kGuards);
  bool done = false;
  GuardWalk walk(names, WalkLimits{.path_bytes = 0}, {tree.path()}, nullptr,
                 [&](DirectoryStack&, const std::string&, const GuardedPath&) {
                   if (!std::exchange(done, true)) tree.must(change);
                   return Spilled::left;
                 });
  EXPECT_TRUE(walk.tree(tree / "w"));
  EXPECT_TRUE(done);
  Interrupted result{walk.stop(), walk.complete()};
  for (const GuardedPath& found : walk.take_guarded())
    result.guarded.emplace_back(relative_to(found.path, tree / "w"));
  return result;
}

constexpr const char* kRaced =
    "mkdir -p w/.git/hooks w/.vscode w/x/.git/hooks w/other && touch w/.envrc";

TEST(WorkspaceTest, ADirectoryThatBecomesALinkDisturbsTheLook) {
  for (const char* const name : {".git", "x"}) {
    const TempTree tree;
    tree.must(kRaced);
    const Interrupted seen =
        walk_while(tree, std::string("cd w && mv ") + name + " parked && ln -s other " + name);
    EXPECT_EQ(seen.stop, GuardWalk::Stop::disturbed) << name;
    EXPECT_FALSE(seen.complete) << name;
  }
}

TEST(WorkspaceTest, ALinkThatBecomesADirectoryDisturbsTheLook) {
  const TempTree tree;
  tree.must(kRaced);
  tree.must("cd w && mv .git ../parked && ln -s other .git");
  const Interrupted seen = walk_while(tree, "cd w && rm .git && mv ../parked .git");
  EXPECT_EQ(seen.stop, GuardWalk::Stop::disturbed);
}

TEST(WorkspaceTest, ADirectoryWithAnotherNameDisturbsTheLookAndTheRestIsSeen) {
  const TempTree tree;
  tree.must(kRaced);
  const Interrupted seen = walk_while(tree, "cd w && mv .git parked");
  EXPECT_EQ(seen.stop, GuardWalk::Stop::disturbed);
  EXPECT_TRUE(std::ranges::find(seen.guarded, "x/.git/hooks") != seen.guarded.end());
}

TEST(WorkspaceTest, LinksInAGitDirectoryDoNotDisturbIt) {
  const TempTree tree;
  tree.must(
      "mkdir -p shared w/x/objects w/x/refs && touch w/x/HEAD && ln -s ../../../shared "
      "w/x/objects/info && ln -s missing w/x/objects/pack");
  const WorkspaceFacts facts = look(tree / "w");
  EXPECT_EQ(summary(facts, tree / "w"),
            (Lines{"x/objects/info: .git -> ../../../shared", "x/objects/pack: .git -> missing"}));
}

TEST(WorkspaceTest, RemovedAndNewDirectoriesDoNotDisturbIt) {
  const TempTree tree;
  tree.must(kRaced);
  // The new ones get inodes of those that were removed, where the file system does that.
  const Interrupted seen = walk_while(
      tree, "cd w && rm -rf other x && sleep 0.02 && mkdir new newer newest && rm -r new");
  EXPECT_EQ(seen.stop, GuardWalk::Stop::none);
  EXPECT_TRUE(seen.complete);
  EXPECT_TRUE(std::ranges::find(seen.guarded, ".git/hooks") != seen.guarded.end());
}

TEST(WorkspaceTest, NamesThatAreNotGuardedAreNotListed) {
  const TempTree tree;
  tree.must("git init -q . && mkdir .vscode sub && touch .envrc && echo x >sub/.git");
  const std::vector<std::string> guards{".envrc"};
  Result<WorkspaceFacts> facts = inspect_workspace(tree.path(), guards);
  ASSERT_TRUE(facts);
  EXPECT_EQ(summary(*facts, tree.path()), Lines{".envrc: .envrc"});
}

TEST(WorkspaceTest, MissingRootIsAnError) {
  EXPECT_FALSE(inspect_workspace("/nonexistent/x", test::kGuards));
}

}  // namespace
}  // namespace coop::guards
