// The matcher of one path against the walk through the whole tree: what it lets pass, no walk lists afterwards.
#include "guards/matcher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "guards/workspace.h"
#include "temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;

std::vector<std::string> guard_names() {
  std::vector<std::string> names = test::kGuards;
  names.insert(names.end(), {".coop", "coop.toml", ".jj/repo", ".cargo/bin"});
  return names;
}

GuardMatcher matcher_of(const Path& root, const WorkspaceFacts& facts) {
  return GuardMatcher({.root = root, .names = guard_names(), .before = facts});
}

std::string verdict(const Path& root, const std::string& path) {
  const Result<WorkspaceFacts> facts = inspect_workspace(root, guard_names());
  if (!facts) return to_text(facts.error());
  return matcher_of(root, *facts).guard_of(join(root, path)).value_or("");
}

TEST(MatcherTest, NamesCountWhereTheGuideSaysSo) {
  const TempTree tree;
  tree.must("git init -q repo && git init -q --bare store && mkdir plain");
  EXPECT_EQ(verdict(tree.path(), ".vscode/x"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), "plain/.vscode/x"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), "node_modules/plain/.vscode/x"), "");
  EXPECT_EQ(verdict(tree.path(), "Vendor/a/b/.vscode/x"), "");
  EXPECT_EQ(verdict(tree.path(), "plain/.github/workflows/x"), "");
  EXPECT_EQ(verdict(tree.path(), "repo/.github/workflows/x"), ".github/workflows");
  EXPECT_EQ(verdict(tree.path(), "repo/sub/.github/workflows/x"), "");
  EXPECT_EQ(verdict(tree.path(), "plain/.coop/policy.toml"), ".coop");
  EXPECT_EQ(verdict(tree.path(), "store/hooks/pre-receive"), ".git/hooks");
  EXPECT_EQ(verdict(tree.path(), "store/info/attributes"), ".git/info/attributes");
  EXPECT_EQ(verdict(tree.path(), "plain/hooks/x"), "");
  EXPECT_EQ(verdict(tree.path(), "new/.git/config"), ".git/config");
  EXPECT_EQ(verdict(tree.path(), "plain/.git"), ".git");
  EXPECT_EQ(verdict(tree.path(), "repo/.git/description"), "");
}

TEST(MatcherTest, ATreeThatIsPartOfANameCountsFromThere) {
  const TempTree tree;
  tree.must("mkdir -p x/.claude x/.Github repo && git init -q repo");
  EXPECT_EQ(verdict(tree / "x/.claude", "settings.json"), ".claude/settings.json");
  EXPECT_EQ(verdict(tree / "x/.claude", "sub/settings.json"), "");
  EXPECT_EQ(verdict(tree / "x/.claude", "other"), "");
  EXPECT_EQ(verdict(tree / "x/.Github", "Workflows/ci.yml"), ".github/workflows");
  EXPECT_EQ(verdict(tree / "repo/.git", "hooks/x"), ".git/hooks");
  EXPECT_EQ(verdict(tree / "repo/.git/info", "attributes"), ".git/info/attributes");
  EXPECT_EQ(verdict(tree / "x", "settings.json"), "");
}

TEST(MatcherTest, SomeNamesCountOnlyAsFilesAndSomeOnlyInAHome) {
  const TempTree tree;
  tree.must("mkdir -p home/.cargo project a/.jj/repo b/.jj");
  EXPECT_EQ(verdict(tree.path(), "a/.jj/repo/x"), "");
  EXPECT_EQ(verdict(tree.path(), "b/.jj/repo"), ".jj/repo");
  const GitUser user{.home = tree / "home"};
  const std::vector<Path> trees{tree / "project", tree / "home/.cargo"};
  const Result<WorkspaceFacts> facts =
      inspect_workspace(tree / "home/.cargo", guard_names(), trees, user);
  ASSERT_TRUE(facts);
  const GuardMatcher granted(
      {.root = tree / "home/.cargo", .names = guard_names(), .before = *facts, .writable = trees});
  EXPECT_EQ(granted.guard_of(tree / "home/.cargo/bin/rg"), ".cargo/bin");
  EXPECT_EQ(granted.guard_of(tree / "home/.cargo/registry/x"), std::nullopt);
  EXPECT_EQ(verdict(tree / "project", ".cargo/bin/rg"), "");
}

TEST(MatcherTest, CaseAndWhatFileSystemsDropDoNotMatter) {
  const TempTree tree;
  tree.must("mkdir -p a/.GIT a/.GitHub/Workflows .GitHub/Workflows && touch .ENVRC. a/.VSCODE");
  const Result<WorkspaceFacts> facts = inspect_workspace(tree.path(), guard_names());
  ASSERT_TRUE(facts);
  std::vector<std::string> found;
  for (const GuardedPath& guarded : facts->guarded)
    found.emplace_back(relative_to(guarded.path, tree.path()));
  EXPECT_EQ(found, (std::vector<std::string>{".ENVRC.", ".GitHub/Workflows", "a/.GitHub/Workflows",
                                             "a/.VSCODE"}));
  EXPECT_EQ(verdict(tree.path(), ".Vscode/x"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), ".v\u017fcode/x"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), "a/.git /Config"), ".git/config");
  // By Unicode's rules, which file systems with "casefold" follow.
  EXPECT_EQ(verdict(tree.path(), "a/.git/con\ufb01g"), ".git/config");
  EXPECT_EQ(verdict(tree.path(), "a/.\u200bgit\u00ad/hoo\u212a\ufeffs"), ".git/hooks");
  EXPECT_EQ(verdict(tree.path(), "\U000e0001.vs\U0001d173code"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), ".hu\u1e9ey"), "") << "sky is not sy";
  EXPECT_EQ(verdict(tree.path(),
                    ".vs\xe2\x80"
                    "code"),
            "")
      << "no whole code point";
}

TEST(MatcherTest, WhatALinkOrGitsConfigurationLeadsToIsGuardedBeforeItExists) {
  const TempTree tree;
  tree.must(
      "git init -q . && git config core.hooksPath githooks && ln -s shared/rc .envrc &&"
      " ln -s agent .claude");
  EXPECT_EQ(verdict(tree.path(), "githooks/pre-commit"), ".git/hooks");
  EXPECT_EQ(verdict(tree.path(), "shared/rc"), ".envrc");
  EXPECT_EQ(verdict(tree.path(), "agent/settings.json"), ".claude/settings.json");
  EXPECT_EQ(verdict(tree.path(), "agent/other"), "");
  EXPECT_EQ(verdict(tree.path(), "shared/other"), "");
}

TEST(MatcherTest, NamesCountInPackagesWhereALinkLeads) {
  const TempTree tree;
  tree.must(
      "mkdir -p node_modules/app node_modules/other && ln -s node_modules/app app &&"
      " ln -s vendor/missing lib");
  EXPECT_EQ(verdict(tree.path(), "node_modules/app/.envrc"), ".envrc");
  EXPECT_EQ(verdict(tree.path(), "node_modules/app/sub/.vscode/x"), ".vscode");
  EXPECT_EQ(verdict(tree.path(), "node_modules/app/vendor/.envrc"), "");
  EXPECT_EQ(verdict(tree.path(), "node_modules/other/.envrc"), "");
  EXPECT_EQ(verdict(tree.path(), "vendor/missing/.envrc"), ".envrc");
  EXPECT_EQ(verdict(tree.path(), "vendor/.envrc"), "");
}

// A link in one tree, packages in another.
TEST(MatcherTest, AlsoInAnotherTree) {
  const TempTree tree;
  tree.must("mkdir -p one two/node_modules/app && ln -s ../two/node_modules/app one/app");
  const std::vector<Path> trees{tree / "one", tree / "two"};
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "one", guard_names(), trees);
  ASSERT_TRUE(facts);
  const GuardMatcher matcher(
      {.root = tree / "one", .names = guard_names(), .before = *facts, .writable = trees});
  EXPECT_EQ(matcher.guard_of(tree / "two/node_modules/app/.envrc"), ".envrc");
  EXPECT_EQ(matcher.guard_of(tree / "two/node_modules/.envrc"), std::nullopt);
}

TEST(MatcherTest, ARepositoryOutsideIsMatchedByItsStructure) {
  const TempTree tree;
  tree.must(
      "git init -q main && cd main && git commit -q --allow-empty -m x && git worktree add -q "
      "../w");
  const Result<WorkspaceFacts> facts = inspect_workspace(tree / "w", guard_names());
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->outside_git, std::vector<Path>{tree / "main/.git"});
  const GuardMatcher outside = matcher_of(tree / "main/.git", *facts);
  EXPECT_EQ(outside.guard_of(tree / "main/.git/hooks/x"), ".git/hooks");
  EXPECT_EQ(outside.guard_of(tree / "main/.git/worktrees/w/config.worktree"),
            ".git/config.worktree");
  EXPECT_EQ(outside.guard_of(tree / "main/.git/logs/.vscode"), std::nullopt);
}

// --- Generated trees -------------------------------------------------------------------------

struct Words {
  std::vector<std::string> names{};
  std::size_t frequent = 0;  // so many of them come more often
  std::vector<std::string> targets{};
};

// Git's own names more often: several have to come together.
const Words kGit{.names = {".git",      "HEAD",      "objects",    "refs",    "config",
                           "hooks",     "commondir", "modules",    "a",       "b",
                           ".vscode",   "info",      "attributes", ".claude", "settings.json",
                           "worktrees", ".coop",     ".envrc",     "Head",    ".Git",
                           "CONFIG",    "githooks",  ".jj",        "repo",    "node_modules",
                           ".github",   "workflows"},
                 .frequent = 10,
                 .targets = {"a", "../a", "..", "b/a", "missing", "hooks"}};

const Words kPackages{
    .names = {"a", "b", "c", "node_modules", "vendor", ".envrc", ".vscode", ".claude"},
    .frequent = 4,
    .targets = {"a", "../a", "..", "node_modules/a", "../node_modules", "../../node_modules/b",
                "a/../b", "node_modules/c/../a/b", "../vendor/b", "vendor",
                "/proc/self/cwd/vendor"}};

class Generator {
 public:
  Generator(Path root, unsigned seed, const Words& words)
      : root_(std::move(root)), random_(seed), words_(words) {}

  void make_tree() { fill(root_, 3); }

  // Below the root; nothing that goes through a symlink, or is a directory.
  std::optional<Path> writable_path() {
    Path path = root_;
    for (std::size_t left = 1 + pick(4); left > 0; --left) {
      path = join(path, name());
      const auto status = std::filesystem::symlink_status(path);
      const bool usable =
          !std::filesystem::exists(status) || (left > 1 ? std::filesystem::is_directory(status)
                                                        : std::filesystem::is_regular_file(status));
      if (!usable) return std::nullopt;
    }
    return path;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  std::string name() {
    return words_.names[pick(2) == 0 ? pick(words_.frequent) : pick(words_.names.size())];
  }

  // The matcher does not know where a symlink in a guarded directory leads if nothing is there: it is not listed.
  bool may_link(const Path& directory) const {
    return &words_ == &kGit || !relative_to(directory, root_).contains('.');
  }

  void fill(const Path& directory, int depth) {
    for (std::size_t left = pick(7); left > 0; --left) {
      const Path path = join(directory, name());
      if (test::exists(path)) continue;
      const std::size_t kind = pick(10);
      if (kind < 6 && depth > 0) {
        std::filesystem::create_directory(path);
        fill(path, depth - 1);
      } else if (kind == 6) {
        const std::string& target = words_.targets[pick(words_.targets.size())];
        if (may_link(directory)) std::filesystem::create_symlink(target, path);
      } else {
        const bool hooks = name_of(path) == "config" && pick(2) == 0;
        std::ofstream(path) << (hooks ? "[core]\nhooksPath = githooks\n" : "x");
      }
    }
  }

  Path root_;
  std::mt19937 random_;
  const Words& words_;
};

// Writes the file as a command would, and takes back what was made.
class Written {
 public:
  explicit Written(const Path& path) : made_(path), existed_(test::exists(path)) {
    while (!existed_ && !test::exists(parent_of(made_))) made_ = parent_of(made_);
    std::filesystem::create_directories(parent_of(path));
    if (!existed_) std::ofstream(path) << "x";
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() {
    if (!existed_) std::filesystem::remove_all(made_);
  }

 private:
  Path made_;
  bool existed_;
};

bool lists_something_new(const WorkspaceFacts& before, const WorkspaceFacts& after,
                         const Path& written) {
  return std::ranges::any_of(after.guarded, [&](const GuardedPath& found) {
    return is_within(written, found.path) ||
           std::ranges::find(before.guarded, found.path, &GuardedPath::path) ==
               before.guarded.end();
  });
}

struct Met {
  int guarded = 0;
  int free = 0;
  int linked = 0;  // guarded in packages
};

void compare_with_walk(const Words& words, unsigned seeds, Met& met) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const TempTree tree(test::fast_parent());
    Generator generator(tree.path(), seed, words);
    generator.make_tree();
    const Result<WorkspaceFacts> before = inspect_workspace(tree.path(), guard_names());
    ASSERT_TRUE(before) << "seed " << seed << ": " << to_text(before.error());
    const GuardMatcher matcher = matcher_of(tree.path(), *before);
    for (int attempt = 0; attempt < 40; ++attempt) {
      const std::optional<Path> path = generator.writable_path();
      if (!path) continue;
      const std::optional<std::string> guard = matcher.guard_of(*path);
      const Written written(*path);
      const Result<WorkspaceFacts> after = inspect_again(tree.path(), guard_names(), *before);
      ASSERT_TRUE(after) << to_text(after.error());
      ASSERT_EQ(guard.has_value(), lists_something_new(*before, *after, *path))
          << "seed " << seed << ": " << relative_to(*path, tree.path()) << " by "
          << guard.value_or("nothing");
      ++(guard ? met.guarded : met.free);
      met.linked += guard && lies_in_packages(relative_to(parent_of(*path), tree.path())) ? 1 : 0;
    }
  }
}

TEST(MatcherTest, AgreesWithTheWalkOnGeneratedTrees) {
  Met met;
  compare_with_walk(kGit, 120, met);
  EXPECT_GT(met.guarded, 300);  // control: both answers are met often
  EXPECT_GT(met.free, 300);
}

TEST(MatcherTest, AgreesWithTheWalkWhereLinksLeadIntoPackages) {
  Met met;
  compare_with_walk(kPackages, 200, met);
  EXPECT_GT(met.guarded, 300);
  EXPECT_GT(met.free, 300);
  EXPECT_GT(met.linked, 50);
}

}  // namespace
}  // namespace coop::guards
