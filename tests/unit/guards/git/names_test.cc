// Paths that git's configuration names are guarded like .git/hooks and .git/config.
#include "guards/git/names.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "guards/quarantine.h"
#include "guards/workspace.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::exists;
using test::TempTree;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using Lines = std::vector<std::string>;

WorkspaceFacts look(const Path& root, const GitUser& user = {},
                    const std::vector<Path>& writable = {}) {
  Result<WorkspaceFacts> facts = inspect_workspace(root, test::kGuards, writable, user);
  if (!facts) ADD_FAILURE() << to_text(facts.error());
  return facts ? *facts : WorkspaceFacts{};
}

std::string why_not(const Path& root) {
  const Result<WorkspaceFacts> facts = inspect_workspace(root, test::kGuards);
  return facts ? std::string() : to_text(facts.error()) + ": " + facts.error().hint;
}

// What is guarded besides git's own places, as "relative path: guard".
Lines found(const WorkspaceFacts& facts, const Path& root) {
  Lines lines;
  for (const GuardedPath& path : facts.guarded) {
    if (path.path.find("/.git") != Path::npos && !path.path.ends_with(".gitconfig-local")) continue;
    std::string line =
        std::string(is_within(path.path, root) ? relative_to(path.path, root) : path.path) + ": " +
        path.guard;
    if (!path.link.empty()) line += " -> " + path.link;
    lines.push_back(line);
  }
  return lines;
}

std::vector<Path> named(const WorkspaceFacts& facts) {
  std::vector<Path> paths;
  for (const NamedPath& name : facts.named) paths.push_back(name.path);
  return paths;
}

TEST(GitNamesTest, HooksDirectoryAndIncludedFilesAreGuarded) {
  const TempTree tree;
  tree.must(
      "git init -q . && git config core.hooksPath tools/hooks && mkdir -p tools/hooks more &&"
      " git config include.path ../.gitconfig-local &&"
      " git config includeIf.onbranch:x.path ../more/b &&"
      " printf '[include]\\npath = more/a\\n' >.gitconfig-local && touch more/a");
  const WorkspaceFacts facts = look(tree.path());
  EXPECT_THAT(found(facts, tree.path()),
              UnorderedElementsAre(".gitconfig-local: .git/config", "more/a: .git/config",
                                   "tools/hooks: .git/hooks"));
  EXPECT_THAT(named(facts), Contains(tree / ".git/../more/b"));  // it may come
  EXPECT_THAT(facts.notes, IsEmpty());
}

// `git clone` on the host copies hooks from there.
TEST(GitNamesTest, TheTemplateOfNewRepositoriesIsGuarded) {
  const TempTree tree;
  tree.must("git init -q w && mkdir -p w/template/hooks");
  tree.write("gitconfig", "[init]\n\ttemplateDir = " + (tree / "w/template") + "\n");
  EXPECT_THAT(found(look(tree / "w", {.configurations = {tree / "gitconfig"}}), tree / "w"),
              UnorderedElementsAre("template: .git/hooks"));
  EXPECT_THAT(found(look(tree / "w"), tree / "w"), IsEmpty());  // control
}

TEST(GitNamesTest, RepositoriesWithoutSuchSettingsNameNothing) {
  const TempTree tree;
  tree.must("git init -q . && git init -q sub && mkdir githooks");
  EXPECT_THAT(look(tree.path()).named, IsEmpty());
}

TEST(GitNamesTest, EveryKindOfRepositoryCounts) {
  const TempTree tree;
  tree.must(
      "git init -q lib && (cd lib && git commit -q --allow-empty -m x) && git init -q w && cd w &&"
      " git -c protocol.file.allow=always submodule --quiet add ../lib deps/lib &&"
      " git -C deps/lib config core.hooksPath h && mkdir deps/lib/h &&"
      " git init -q nested && git -C nested config core.hooksPath h && mkdir nested/h &&"
      " git init -q --bare bare && git -C bare config core.hooksPath h && mkdir bare/h &&"
      " git -C ../lib worktree add -q ../w/tree && git -C ../lib config core.hooksPath h &&"
      " mkdir tree/h && git init -q --separate-git-dir ../away apart &&"
      " git -C apart config core.hooksPath h && mkdir apart/h");
  EXPECT_THAT(
      found(look(tree / "w"), tree / "w"),
      UnorderedElementsAre("apart/h: .git/hooks", "bare/config: .git/config", "bare/h: .git/hooks",
                           "bare/hooks: .git/hooks", "deps/lib/h: .git/hooks",
                           "nested/h: .git/hooks", "tree/h: .git/hooks"));
}

TEST(GitNamesTest, SettingsOfOneWorktreeCount) {
  const TempTree tree;
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x &&"
      " git config extensions.worktreeConfig true && git worktree add -q ../tree && cd ../tree &&"
      " git config --worktree core.hooksPath h && mkdir h");
  EXPECT_THAT(found(look(tree / "tree"), tree / "tree"), Contains("h: .git/hooks"));
}

TEST(GitNamesTest, SymlinksOnTheWayAreGuardedToo) {
  const TempTree tree;
  tree.must(
      "git init -q . && mkdir -p real/hooks other && ln -s real tools && ln -s ../real/hooks "
      "other/h"
      " && git config core.hooksPath tools/hooks && git config --add core.hooksPath "
      "other/../other/h");
  EXPECT_THAT(found(look(tree.path()), tree.path()),
              UnorderedElementsAre("other/h: .git/hooks -> ../real/hooks", "real/hooks: .git/hooks",
                                   "tools: .git/hooks -> real"));
}

TEST(GitNamesTest, AWholeTreeIsNotMadeReadOnly) {
  for (const std::string value : {".", "", ".git", "x/..", ".git/.."}) {
    const TempTree tree;
    tree.must("git init -q w && cd w && git config core.hooksPath '" + value + "'");
    const WorkspaceFacts facts = look(tree / "w");
    EXPECT_THAT(found(facts, tree / "w"), IsEmpty()) << value;
    for (const GuardedPath& path : facts.guarded) EXPECT_NE(path.path, tree / "w/.git") << value;
    EXPECT_EQ(facts.notes.size(), value.empty() ? 0u : 1u) << value;
  }
  const TempTree tree;
  tree.must("git init -q w/sub && cd w/sub && git config core.hooksPath ..");
  const WorkspaceFacts facts = look(tree / "w");
  EXPECT_THAT(found(facts, tree / "w"), IsEmpty());
  EXPECT_THAT(facts.notes, Contains(HasSubstr("hooks in it are not guarded")));
}

// Nothing in them can be changed inside, but for what links in a hooks directory lead to.
TEST(GitNamesTest, PathsOutsideAreIgnoredUnlessWritable) {
  const TempTree tree;
  tree.must(
      "mkdir hooks home && git init -q w && cd w && git config core.hooksPath \"${PWD%/w}/hooks\" "
      "&&"
      " git config include.path '~/x'");
  EXPECT_EQ(look(tree / "w", {.home = tree / "home"}).named,
            (std::vector{NamedPath{.path = tree / "hooks", .guard = ".git/hooks"}}));
  EXPECT_THAT(found(look(tree / "w", {}, {{tree / "w", tree / "hooks2"}}), tree / "w"), IsEmpty());
  tree.must("touch w/free w/check && ln -s ../w/check hooks/pre-commit && ln -s ../w/no hooks/x");
  EXPECT_THAT(found(look(tree / "w", {}), tree / "w"), UnorderedElementsAre("check: .git/hooks"));
  tree.must("touch home/x");
  const WorkspaceFacts facts = look(tree / "w", {.home = tree / "home"}, {{tree / "home"}});
  EXPECT_THAT(found(facts, tree / "w"),
              UnorderedElementsAre((tree / "home/x") + ": .git/config", "check: .git/hooks"));
}

TEST(GitNamesTest, SettingsOfTheUserHoldForEveryRepository) {
  const TempTree tree;
  tree.must(
      "mkdir -p home w/githooks w/a/githooks w/plain/githooks && git init -q w && git init -q w/a");
  tree.write("home/.gitconfig", "[include]\npath = more\n");
  tree.write("home/more", "[core]\nhooksPath = ./githooks\n");
  const GitUser user{.home = tree / "home", .configurations = {tree / "home/.gitconfig"}};
  EXPECT_THAT(found(look(tree / "w", user), tree / "w"),
              UnorderedElementsAre("a/githooks: .git/hooks", "githooks: .git/hooks"));
  tree.write("home/more", "[core]\nhooksPath = ../up\n");
  EXPECT_THAT(look(tree / "w", user).notes, Contains(HasSubstr("\"../up\" of the user")));
}

TEST(GitNamesTest, ConfigurationsOfTheUserAreThoseGitReads) {
  HostFacts host;
  host.home = "/home/ann";
  EXPECT_EQ(git_user(host).configurations,
            (std::vector<Path>{"/etc/gitconfig", "/home/ann/.config/git/config",
                               "/home/ann/.gitconfig"}));
  host.environment = {{"XDG_CONFIG_HOME", "/x"}, {"GIT_CONFIG_GLOBAL", "/g"}};
  EXPECT_EQ(git_user(host).configurations,
            (std::vector<Path>{"/etc/gitconfig", "/x/git/config", "/home/ann/.gitconfig", "/g"}));
}

TEST(GitNamesTest, LimitsAreErrors) {
  const TempTree tree;
  tree.must("git init -q . && git config include.path ../a && git config core.hooksPath h");
  tree.write("a", "[include]\npath = a\npath = ../" + std::string(tree.path()) + "\n");
  EXPECT_THAT(look(tree.path()).notes, IsEmpty());  // a circle is no mistake
  std::string many = "[include]\n";
  for (int count = 0; count < 300; ++count) many += "path = f" + std::to_string(count) + "\n";
  tree.write("a", many);
  EXPECT_THAT(why_not(tree.path()), HasSubstr("more files than coop follows"));
  for (int depth = 0; depth < 20; ++depth)
    tree.write("d" + std::to_string(depth), "[include]\npath = d" + std::to_string(depth + 1));
  tree.write("a", "[include]\npath = d0");
  EXPECT_THAT(why_not(tree.path()), HasSubstr("more files than coop follows"));
  tree.write("a", std::string((1 << 20) + 1, '\n'));
  EXPECT_THAT(why_not(tree.path()), HasSubstr("larger than 1 MiB"));
  tree.must("rm a && mkfifo a");
  EXPECT_THAT(look(tree.path()).notes, IsEmpty());
}

// Each repository has its own limit: nested ones do not use up what is followed for the user's.
TEST(GitNamesTest, NestedRepositoriesUseUpNothing) {
  const TempTree tree;
  tree.must("git init -q . && git config include.path ../zz && git init -q a && git init -q b");
  std::string many = "[include]\n";
  for (int count = 0; count < 200; ++count)
    many += "path = /nonexistent/" + std::to_string(count) + "\n";
  tree.write("a/.git/config", many);
  tree.write("b/.git/config", many);
  tree.write("zz", "[core]\nhooksPath = h\n");
  EXPECT_THAT(named(look(tree.path())), Contains(tree / "h"));
}

TEST(GitNamesTest, RepositoriesAroundTheTreeCount) {
  const TempTree tree;
  tree.must(
      "git init -q r && cd r && git config core.hooksPath sub/h && git config include.path "
      "../sub/i && mkdir -p sub/h && touch sub/i && git -c user.name=a -c user.email=a commit "
      "-q --allow-empty -m a && git worktree add -q ../w && mkdir -p ../w/sub/h");
  EXPECT_THAT(found(look(tree / "r/sub"), tree / "r/sub"),
              UnorderedElementsAre("h: .git/hooks", "i: .git/config"));
  EXPECT_THAT(found(look(tree / "w/sub"), tree / "w/sub"), UnorderedElementsAre("h: .git/hooks"));
  tree.must("mkdir home && git -C r config --unset core.hooksPath");
  tree.write("home/.gitconfig", "[core]\nhooksPath = sub/h\n");
  const GitUser user{.home = tree / "home", .configurations = {tree / "home/.gitconfig"}};
  EXPECT_THAT(found(look(tree / "r/sub", user), tree / "r/sub"),
              UnorderedElementsAre("h: .git/hooks", "i: .git/config"));
}

TEST(GitNamesTest, AFileThatCannotBeReadIsAnError) {
  const TempTree tree;
  tree.must("git init -q . && git config include.path ../c/i && mkdir c");
  tree.write("c/i", "[core]\nhooksPath = h\n");
  // Root reads everything: look as another user.
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root) tree.must("chown -R 65534 .");
  const auto look = [&](const std::string& modes) {
    tree.must(modes);
    if (root) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
    const std::string why = why_not(tree.path());
    if (root) {
      EXPECT_EQ(::seteuid(0), 0);
    }
    return why;
  };
  EXPECT_THAT(look("chmod 000 c"), HasSubstr(tree / "c/i"));
  EXPECT_THAT(look("chmod 700 c && chmod 000 c/i"), HasSubstr("c/i"));
}

// The whole cycle: a walk before, a new file, a walk afterwards.
class NamedQuarantineTest : public testing::Test {
 protected:
  void before(const GitUser& user = {}) { facts_ = look(tree / "w", user); }
  Lines moved_after(const std::string& script) {
    tree.must("cd w && " + script);
    const QuarantineReport report = quarantine({.roots = {tree / "w"},
                                                .names = test::kGuards,
                                                .mounted = {},
                                                .places = {},
                                                .versions = {}},
                                               {facts_}, tree / "q");
    Lines lines;
    for (const Quarantined& item : report.moved)
      lines.push_back(std::string(relative_to(item.path, tree / "w")) + ": guard " + item.guard);
    return lines;
  }
  const TempTree tree;
  WorkspaceFacts facts_{};
};

TEST_F(NamedQuarantineTest, WhatAppearsIsTakenAway) {
  tree.must(
      "git init -q w && cd w && git config core.hooksPath a/h && git config include.path ../i");
  before();
  EXPECT_THAT(moved_after("mkdir -p a/h && touch a/h/pre-commit a/other i"),
              UnorderedElementsAre("a/h: guard .git/hooks", "i: guard .git/config"));
  EXPECT_TRUE(exists(tree / "w/a/other"));
}

TEST_F(NamedQuarantineTest, WhatIsNotTouchedStays) {
  tree.must(
      "git init -q w && cd w && git config core.hooksPath l/h && mkdir -p r/h && ln -s r l &&"
      " touch r/h/x");
  before();
  EXPECT_THAT(moved_after("touch other"), IsEmpty());
  EXPECT_TRUE(exists(tree / "w/r/h/x"));
}

TEST_F(NamedQuarantineTest, ASymlinkThatAppearsGoesAndItsTargetStays) {
  tree.must("git init -q w && cd w && git config core.hooksPath a/h && mkdir -p src/h");
  before();
  EXPECT_THAT(moved_after("ln -s src a"), UnorderedElementsAre("a: guard .git/hooks"));
  EXPECT_TRUE(exists(tree / "w/src/h"));
}

TEST_F(NamedQuarantineTest, ANewTargetOfAnOldSymlinkIsTakenAway) {
  tree.must("git init -q w && cd w && git config core.hooksPath h && ln -s build/h h");
  before();
  EXPECT_THAT(moved_after("mkdir -p build/h/x"), UnorderedElementsAre("build/h: guard .git/hooks"));
}

TEST_F(NamedQuarantineTest, ALockedDirectoryHidesNothing) {
  tree.must("git init -q w && cd w && git config core.hooksPath a/h");
  before();
  EXPECT_THAT(moved_after("mkdir -p a/h && touch a/h/pre-commit && chmod 000 a"),
              UnorderedElementsAre("a/h: guard .git/hooks"));
}

TEST_F(NamedQuarantineTest, ANewRepositoryObeysTheUsersSettingsToo) {
  tree.must("mkdir -p home w");
  tree.write("home/.gitconfig", "[core]\nhooksPath = tools/h\n");
  before({.home = tree / "home", .configurations = {tree / "home/.gitconfig"}});
  EXPECT_THAT(
      moved_after("git init -q n && rm -r n/.git/hooks n/.git/config && mkdir -p n/tools/h/x"),
      UnorderedElementsAre("n/tools/h: guard .git/hooks"));
}

// With --allow-guarded .git/config the sandbox can write the settings. They must not determine what
// is moved to the quarantine.
TEST_F(NamedQuarantineTest, SettingsMadeDuringTheRunCarryNothingAway) {
  tree.must("git init -q w && mkdir w/src");
  before();
  std::vector<std::string> names = test::kGuards;
  std::erase(names, ".git/config");
  tree.must("cd w && git config core.hooksPath src");
  const QuarantineReport report = quarantine(
      {.roots = {tree / "w"}, .names = names, .mounted = {}, .places = {}, .versions = {}},
      {facts_}, tree / "q");
  EXPECT_THAT(report.moved, IsEmpty());
  EXPECT_TRUE(exists(tree / "w/src"));
}

}  // namespace
}  // namespace coop::guards
