// Every known way out, against every tool that takes a path.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "support/harness.h"
#include "tools/file_attack_tree.h"

namespace coop::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

enum class Against : std::uint8_t { all, writers };

struct Attack {
  std::string path;
  std::string reason;  // in the answer
  Against against = Against::all;
};

struct Tool {
  std::string name;
  std::function<ToolOutput(const FileView&, const std::string& path)> call;
  bool writes = false;
  std::string good = "ordinary";
};

std::vector<Tool> tools() {
  return {
      {"read", [](const FileView& v, const std::string& p) { return read_file(v, {{"path", p}}); }},
      {"send", [](const FileView& v, const std::string& p) { return send_file(v, {{"path", p}}); }},
      {.name = "list",
       .call = [](const FileView& v,
                  const std::string& p) { return list_files(v, {{"path", p}, {"hidden", true}}); },
       .good = "sub"},
      {"search",
       [](const FileView& v, const std::string& p) {
         return search_files(v, {{"path", p}, {"pattern", "SECRET"}});
       }},
      {"write",
       [](const FileView& v, const std::string& p) {
         return write_file(v, {{"path", p}, {"content", "owned"}});
       },
       true},
      {"edit",
       [](const FileView& v, const std::string& p) {
         return edit_file(v, {{"path", p}, {"old", "n"}, {"new", "n"}, {"all", true}});
       },
       true},
  };
}

std::vector<Attack> attacks(const test::AttackTree& tree) {
  const std::string view = "not in the sandbox's view";
  const std::string hidden = "is hidden by policy.toml:3: a test says so";
  const std::string control = "control character";
  const std::string invisible = "invisible character";
  const std::string kind = "plain file";
  return {
      {"absolute", view},
      {"relative", view},
      {"chain", view},
      {"directory/secret", view},
      {"sub/middle/secret", view},
      {"sub/../directory/secret", view},
      {"../outside/secret", "leads out of the workspace"},
      {"sub/../../outside/secret", "leads out of the workspace"},
      {"./.././../../../../../../etc/shadow", view},
      {"/work/../etc/shadow", view},
      {tree.ws() + "/../outside/secret", view},
      {tree.tree() / "outside/secret", view},
      {"/proc/self/root/etc/shadow", view},
      {"/proc/self/cwd/x", view},
      {"/proc/1/environ", view},
      {"/proc/self/fd/0", view},
      {"to-proc", view},
      {"/dev/stdin", view},
      {"/etc/shadow", view},
      {"/root/.ssh/id_rsa", view},
      {"~/secret", "would need a shell"},
      {"~", "would need a shell"},
      {"$HOME/.bashrc", "would need a shell"},
      {"${HOME}/.bashrc", "would need a shell"},
      {std::string("ordinary\0x", 10), control},
      {std::string("\0", 1), control},
      {"ordinary\n", control},
      {"ord\x1b[2Jinary", control},
      {"ordinary\x7f", control},
      {"\u202eyranidro", invisible},
      {"ordi\u200bnary", invisible},
      {"\ufeffordinary", invisible},
      {"ordinary\u2066", invisible},
      {"ordin\xff\x61ry", "not UTF-8"},
      {"ordin\xc0\xaf\x61ry", "not UTF-8"},
      {std::string(5000, 'a'), "too long"},
      {std::string(300, 'a'), "over 255 bytes"},
      {"", "empty"},
      {"fifo", kind},
      {"socket", kind},
      {"device", "sandbox's view|plain file"},
      {"hidden", hidden},
      {"./sub//..///hidden", hidden},
      {"/work/hidden", hidden},
      {tree.ws() + "/hidden", hidden},
      {"to-hidden", hidden},
      {"vault/key", hidden},
      {"vault/missing", hidden},
      {"to-vault/key", hidden},
      {"to-vault/missing", hidden},
      {"to-nothing", hidden},
      {"loop", "a link that cannot be followed"},
      {"ordinary/", "directory"},
      {"ordinary/.", "directory"},
      {"ordinary/x", "ENOTDIR"},
      {".", "directory", Against::writers},
      {"sub", "directory", Against::writers},
      {"sub/..", "directory", Against::writers},
      {"protected", "policy.toml:4", Against::writers},
      {"readonly/file", "policy.toml:5", Against::writers},
      {"readonly/new", "ENOENT|policy.toml:5", Against::writers},
      {"/usr/bin/env", "is read-only by", Against::writers},
      {".git/hooks/old", "guard .git/hooks", Against::writers},
      {".git/hooks/new", "guard .git/hooks|ENOENT", Against::writers},
      {"packed/.envrc", "guard .envrc|ENOENT", Against::writers},
      {"node_modules/packed/.envrc", "guard .envrc|ENOENT", Against::writers},
      {"node_modules/packed/sub/.vscode/tasks.json", "guard .vscode|ENOENT", Against::writers},
      {"SOUL.md", "identity file", Against::writers},
      {"to-soul", "identity file", Against::writers},
      {"sub/soul.MD", "identity file|ENOENT", Against::writers},
      {"sub/Identity.md", "identity file|ENOENT", Against::writers},
      {"new/deep/user.md", "identity file|ENOENT", Against::writers},
  };
}

bool says_one_of(const std::string& text, std::string_view reasons) {
  while (!reasons.empty()) {
    const std::size_t end = std::min(reasons.find('|'), reasons.size());
    if (text.contains(reasons.substr(0, end))) return true;
    reasons.remove_prefix(std::min(end + 1, reasons.size()));
  }
  return false;
}

KERNEL_TEST(FileAttack, NoPathLeadsOutWhateverTheTool) {
  const test::AttackTree tree;
  const std::string before = tree.precious();
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value()) << to_text(view.error());
  for (const Tool& tool : tools()) {
    for (const Attack& attack : attacks(tree)) {
      if (attack.against == Against::writers && !tool.writes) continue;
      const ToolOutput output = tool.call(*view, attack.path);
      const std::string what = tool.name + " " + printable(attack.path) + ": " + output.text;
      EXPECT_TRUE(output.failed) << what;
      EXPECT_TRUE(says_one_of(output.text, attack.reason)) << what;
      EXPECT_THAT(output.text, Not(HasSubstr(test::kSecret))) << what;
      EXPECT_EQ(output.structured.contains("data"), false) << what;
    }
    EXPECT_FALSE(tool.call(*view, tool.good).failed) << tool.name;  // control
    EXPECT_FALSE(tool.call(*view, tree.ws() + "/" + tool.good).failed) << tool.name;
    EXPECT_FALSE(tool.call(*view, "/work/sub/../" + tool.good).failed) << tool.name;
  }
  EXPECT_EQ(tree.precious(), before);
  EXPECT_FALSE(test::exists(tree.ws() + "/~"));
  EXPECT_FALSE(test::exists(tree.ws() + "/new"));
  EXPECT_EQ(tree.tree().shell("ls -A ws ws/sub | grep coop-tmp"), 1 << 8);
}

KERNEL_TEST(FileAttack, GuardedNamesAreNotWrittenEvenWhereThereIsNoneYet) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const std::vector<std::pair<std::string, std::string>> cases{
      {".git/hooks/pre-commit", ".git/hooks"},
      {".GIT/hooks/x", ".git/hooks"},
      {".git/Hooks/x", ".git/hooks"},
      {".git./hooks/x", ".git/hooks"},
      {"sub/.git/config", ".git/config"},
      {".git/worktrees/a/commondir", ".git"},
      {".git/worktrees/a/config.worktree", ".git/config.worktree"},
      {"sub/.vscode/../.git", ".git"},
      {"sub/.git", ".git"},
      {".git/commondir", ".git"},
      {".envrc", ".envrc"},
      {".ENVRC", ".envrc"},
      {".vscode/tasks.json", ".vscode"},
      {"sub/.coop/policy.toml", ".coop"},
      {".v\u017fcode/tasks.json", ".vscode"},
      {".mcp.json", ".mcp.json"},
      {".coop/policy.toml", ".coop"},
      {".github/workflows/a.yml", ".github/workflows"},
      {"jenkinsfile", "Jenkinsfile"},
      {".claude/settings.json", ".claude/settings.json"},
  };
  for (const auto& [path, guard] : cases) {
    const ToolOutput output = write_file(*view, {{"path", path}, {"content", "x"}});
    EXPECT_TRUE(output.failed) << path;
    EXPECT_THAT(output.text, HasSubstr("is denied by guard " + guard + ":")) << path;
    EXPECT_EQ(output.structured["denials"][0]["grant"], "--allow-guarded " + guard) << path;
  }
  // As commands may write them: docs/guides/guards.md, "Where a name counts".
  for (const char* const fine :
       {".github/x.yml", "hooks/x", "sub/config", ".gitignore", ".claude/x", ".git/description",
        "vscode/x", "other/HEAD", "sub/.github/workflows/x", "vendor/deep/.ENVRC",
        ".git/modules/a/hooks/x"})
    EXPECT_FALSE(write_file(*view, {{"path", fine}, {"content", "x"}}).failed) << fine;  // control
}

KERNEL_TEST(FileAttack, AGuardThatIsSwitchedOffIsNone) {
  const test::AttackTree tree;
  Policy policy = tree.policy();
  policy.allow_guarded = {".envrc"};
  Result<FileView> view = FileView::of_sandbox(policy);
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(write_file(*view, {{"path", ".envrc"}, {"content", "x"}}).failed);
  EXPECT_TRUE(write_file(*view, {{"path", ".mcp.json"}, {"content", "x"}}).failed);
}

KERNEL_TEST(FileAttack, AGitDirectoryOfAnotherNameIsNotMadePieceByPiece) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const auto write = [&](const char* path) {
    return !write_file(*view, {{"path", path}, {"content", "x"}}).failed;
  };
  for (const char* const piece : {"a/HEAD", "a/config", "a/objects/x", "a/hooks/x"})
    EXPECT_TRUE(write(piece)) << piece;
  EXPECT_FALSE(write("a/refs/x"));
  EXPECT_FALSE(write("a/commondir"));
  for (const char* const piece : {"b/config", "b/refs/x", "b/objects/x"})
    EXPECT_TRUE(write(piece)) << piece;
  EXPECT_FALSE(write("b/HEAD"));
  for (const char* const piece : {"c/HEAD", "c/refs/x", "c/objects/x"})
    EXPECT_TRUE(write(piece)) << piece;
  for (const char* const piece : {"c/config", "c/hooks/x", "c/info/attributes", "c/commondir"})
    EXPECT_FALSE(write(piece)) << piece;
  EXPECT_TRUE(write("d/.github/workflows/x"));
  EXPECT_FALSE(write("d/.git/description"));  // now d/.github is beside a .git
}

// Each alone is fine, and neither sees the other when it is judged first.
KERNEL_TEST(FileAttack, TwoCallsAtOnceCompleteNoGitDirectory) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const auto write = [&](const std::string& path) {
    return !write_file(*view, {{"path", path}, {"content", "x"}}).failed;
  };
  int single = 0;
  for (int round = 0; round < 150; ++round) {
    const std::string top = "r" + std::to_string(round);
    ASSERT_TRUE(write(top + "/HEAD"));
    ASSERT_TRUE(write(top + "/config"));
    std::atomic<int> waiting = 2;
    std::array<bool, 2> done{};
    const auto race = [&](std::size_t index, const std::string& path) {
      --waiting;
      while (waiting > 0) {
      }
      done[index] = write(top + path);
    };
    std::thread other(race, 0, "/objects/x");
    race(1, "/refs/x");
    other.join();
    single += done[0] != done[1] ? 1 : 0;
    EXPECT_FALSE(done[0] && done[1]) << top;
    EXPECT_FALSE(test::exists(tree.ws() + "/" + top + "/objects") &&
                 test::exists(tree.ws() + "/" + top + "/refs"))
        << top;
  }
  EXPECT_GT(single, 0);  // control: writing there works at all
}

// What a command that runs at the same time does while the bytes are written.
KERNEL_TEST(FileAttack, ADirectoryThatBecomesGuardedMeanwhileGetsNoFile) {
  using std::chrono::steady_clock;
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  const std::string content(std::size_t{60} << 20, 'x');
  const std::string renamed = "mv ws/plain ws/.vscode";
  const std::string completed = "mkdir -p ws/plain/objects ws/plain/refs && touch ws/plain/HEAD";
  int counted = 0;
  for (int round = 0; round < 16; ++round) {
    const bool renames = round % 2 == 0;
    tree.tree().must(
        "rm -rf ws/plain ws/.vscode && mkdir ws/plain && echo former >ws/plain/former");
    // Also in the place of a file that is there already.
    const std::string name = renames && round % 4 == 0 ? "former" : "config";
    const steady_clock::time_point begin = steady_clock::now();
    steady_clock::time_point changed;
    std::thread command([&] {
      tree.tree().must(renames ? renamed : completed);
      changed = steady_clock::now();
    });
    const ToolOutput output = write_file(*view, {{"path", "plain/" + name}, {"content", content}});
    const steady_clock::time_point end = steady_clock::now();
    command.join();
    // Later than that it may have come after the last look: then the command's own look finds it.
    if (changed - begin > (end - begin) / 2) continue;
    ++counted;
    const std::string place = tree.ws() + (renames ? "/.vscode/" : "/plain/") + name;
    if (name == "former") EXPECT_TRUE(!test::exists(place) || test::read_text(place) == "former\n");
    else EXPECT_FALSE(test::exists(place)) << output.text;
    EXPECT_EQ(tree.tree().shell("ls -A ws/plain ws/.vscode 2>/dev/null | grep coop-tmp"), 1 << 8);
  }
  EXPECT_GT(counted, 0);
  tree.tree().must("rm -rf ws/plain ws/.vscode");
  EXPECT_FALSE(
      write_file(*view, {{"path", "plain/config"}, {"content", content}}).failed);  // control
}

KERNEL_TEST(FileAttack, WhatGitsConfigurationNamesIsNotMade) {
  const test::AttackTree tree;
  tree.tree().must(
      "cd ws && git init -q r && git -C r config core.hooksPath githooks && git -C r config "
      "include.path ../more && git -C r config --add include.path ../../deep/er/inc && git -C r "
      "config includeIf.onbranch:x.path \"$PWD/absolute-inc\"");
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  for (const char* const path :
       {"r/githooks/pre-commit", "r/more", "deep/er/inc", "absolute-inc", "r/.git/githooks/x"})
    EXPECT_TRUE(write_file(*view, {{"path", path}, {"content", "x"}}).failed) << path;
  for (const char* const path : {"r/hooks/pre-commit", "deep/er/other", "githooks/x", "more"})
    EXPECT_FALSE(write_file(*view, {{"path", path}, {"content", "x"}}).failed) << path;  // control
  // Also when it has been named since the last look, which is kept for a while.
  ViewCache cache(
      [&](const FileView* former) { return FileView::of_sandbox(tree.policy(), former); },
      std::chrono::hours(1));
  const Result<FileView> kept = cache.get();
  ASSERT_TRUE(kept.has_value());
  tree.tree().must("git -C ws/r config core.hooksPath late");
  EXPECT_TRUE(write_file(*kept, {{"path", "r/late/pre-commit"}, {"content", "x"}}).failed);
  EXPECT_TRUE(write_file(*cache.get(), {{"path", "r/late/pre-commit"}, {"content", "x"}}).failed);
  EXPECT_FALSE(
      write_file(*cache.get(), {{"path", "r/later"}, {"content", "x"}}).failed);  // control
}

KERNEL_TEST(FileAttack, ALinkPutInTheWayMeanwhileIsNotFollowed) {
  const test::AttackTree tree;
  tree.tree().must("mkdir ws/race && echo ordinary > ws/race/secret && ln -s ../outside ws/swap");
  const std::string before = tree.precious();
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  std::atomic<bool> done = false;
  const Path real = tree.ws() + "/race";
  const Path link = tree.ws() + "/swap";
  std::thread swapper([&] {
    while (!done) ::renameat2(AT_FDCWD, real.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  int read = 0;
  int written = 0;
  while (std::chrono::steady_clock::now() < end) {
    const ToolOutput got = read_file(*view, {{"path", "race/secret"}});
    ASSERT_THAT(got.text, Not(HasSubstr(test::kSecret)));
    read += got.failed ? 0 : 1;
    const ToolOutput put = write_file(*view, {{"path", "race/secret"}, {"content", "ordinary\n"}});
    written += put.failed ? 0 : 1;
  }
  done = true;
  swapper.join();
  EXPECT_GT(read, 0);  // control: the good one was met, too
  EXPECT_GT(written, 0);
  EXPECT_EQ(tree.precious(), before);
  EXPECT_EQ(tree.tree().shell("ls -A outside | grep -v '^secret$'"), 1 << 8);
}

KERNEL_TEST(FileAttack, WritingOneHardLinkLeavesTheOtherAlone) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(write_file(*view, {{"path", "hardlink"}, {"content", "owned"}}).failed);
  EXPECT_EQ(test::read_text(tree.ws() + "/hardlink"), "owned");
  EXPECT_EQ(test::read_text(tree.ws() + "/protected"), test::kSecret + "\n");
}

// The mask goes with the file that it covers; the name stays hidden.
KERNEL_TEST(FileAttack, WhatTakesTheNameOfAHiddenFileIsHidden) {
  const test::AttackTree tree;
  Result<FileView> view = FileView::of_sandbox(tree.policy());
  ASSERT_TRUE(view.has_value()) << to_text(view.error());
  tree.tree().must("cd ws && cp ../outside/secret new && mv new hidden");
  tree.tree().must("cd ws && mv vault away && mkdir vault && cp ../outside/secret vault/key");
  for (const char* const path : {"hidden", "vault/key", "to-hidden", "to-vault/key"}) {
    const ToolOutput output = read_file(*view, {{"path", path}});
    EXPECT_TRUE(output.failed) << path;
    EXPECT_THAT(output.text, HasSubstr("is hidden by policy.toml:3")) << path;
  }
  EXPECT_EQ(search_files(*view, {{"pattern", "SECRET"}, {"glob", "key"}}).structured["matches"], 0);
}

}  // namespace
}  // namespace coop::tools
