// Leading the host's git to settings and hooks of the sandbox's making, by every redirection it knows.
#include <nlohmann/json.hpp>
#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

void make_small_repository(const std::string& directory) {
  for (const char* name : {"/.git/hooks", "/.git/objects", "/.git/refs/heads"})
    make_directories(directory + name);
  write_file(directory + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(directory + "/.git/config", "[core]\n\tbare = false\n");
}

// A directory with settings that name a program. Without a HEAD it is no repository by itself.
constexpr const char* kEvilSettings =
    "mkdir -p evil/objects evil/refs evil/hooks && printf '[core]\\n\\tfsmonitor = evil\\n' > "
    "evil/config; ";

KERNEL_TEST(EscapeGit, HooksOfANewRepository) {
  const Workspace workspace;
  const std::string script =
      "mkdir -p new/.git/hooks new/.git/objects new/.git/refs && echo 'ref: refs/heads/main' > "
      "new/.git/HEAD"
      " && echo evil > new/.git/hooks/post-checkout && printf '[core]\\n\\tfsmonitor = evil\\n' > "
      "new/.git/config";
  const nlohmann::json output = run_script(workspace, script);
  EXPECT_FALSE(exists(workspace / "new/.git/hooks/post-checkout")) << output.dump();
  EXPECT_TRUE(entry_for(output, workspace / "new/.git/hooks/post-checkout").is_object())
      << output.dump();
  // A new repository's own settings name programs just as well.
  EXPECT_EQ(read_file(workspace / "new/.git/config").find("fsmonitor"), std::string::npos)
      << output.dump();
}

KERNEL_TEST(EscapeGit, HooksOfANewBareRepository) {
  const Workspace workspace;
  const nlohmann::json output = run_script(
      workspace,
      "mkdir -p docs/hooks docs/objects docs/refs && echo 'ref: refs/heads/main' > docs/HEAD"
      " && printf '[core]\\n\\tfsmonitor = evil\\n' > docs/config && echo evil > "
      "docs/hooks/post-checkout");
  EXPECT_EQ(read_file(workspace / "docs/config").find("fsmonitor"), std::string::npos)
      << output.dump();
  EXPECT_FALSE(exists(workspace / "docs/hooks/post-checkout")) << output.dump();
}

KERNEL_TEST(EscapeGit, GitFileThatLeadsElsewhere) {
  const Workspace workspace;
  const std::string script =
      "mkdir -p store/hooks store/objects store/refs sub && echo 'ref: refs/heads/main' > "
      "store/HEAD"
      " && printf '[core]\\n\\tfsmonitor = evil\\n' > store/config && echo 'gitdir: ../store' > "
      "sub/.git";
  const nlohmann::json output = run_script(workspace, script);
  // Either name is enough: without the file, or without the settings, git runs nothing.
  EXPECT_TRUE(!exists(workspace / "sub/.git") || !exists(workspace / "store/config"))
      << output.dump();
  EXPECT_FALSE(output.value("quarantined", nlohmann::json::array()).empty()) << output.dump();
}

KERNEL_TEST(EscapeGit, GitFileThatLeadsToAHiddenPlace) {
  const Workspace workspace;
  const nlohmann::json output =
      run_script(workspace, "mkdir sub; echo 'gitdir: /tmp/elsewhere' > sub/.git");
  EXPECT_FALSE(exists(workspace / "sub/.git")) << output.dump();
}

KERNEL_TEST(EscapeGit, CommonDirectoryOfTheRepository) {
  // git takes settings and hooks from wherever the file "commondir" says.
  const Workspace workspace;
  make_small_repository(workspace.path());
  const std::string script = std::string(kEvilSettings) + "echo ../evil > .git/commondir";
  const nlohmann::json output = run_script(workspace, script);
  EXPECT_TRUE(exists(workspace / "evil/refs"))
      << output.dump();  // it ran; a served directory refuses the file itself
  EXPECT_TRUE(!exists(workspace / ".git/commondir") || !exists(workspace / "evil/config"))
      << output.dump();
  run_script(workspace, script, {"--allow-guarded", ".git"});
  EXPECT_TRUE(exists(workspace / ".git/commondir"));  // control
}

KERNEL_TEST(EscapeGit, CommonDirectoryOfANewWorktree) {
  const Workspace workspace;
  make_small_repository(workspace.path());
  const nlohmann::json output = run_script(
      workspace,
      std::string(kEvilSettings) +
          "mkdir -p sub .git/worktrees/e; echo 'ref: refs/heads/main' > .git/worktrees/e/HEAD;"
          "echo ../../../evil > .git/worktrees/e/commondir; echo 'gitdir: ../.git/worktrees/e' > "
          "sub/.git");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_TRUE(!exists(workspace / "sub/.git") ||
              !exists(workspace / ".git/worktrees/e/commondir") ||
              !exists(workspace / "evil/config"))
      << output.dump();
}

KERNEL_TEST(EscapeGit, SymlinkToARepositoryOfItsOwn) {
  const Workspace workspace;
  const nlohmann::json output =
      run_script(workspace, std::string(kEvilSettings) +
                                "echo 'ref: refs/heads/main' > evil/HEAD; ln -s evil .git");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_TRUE(!exists(workspace / ".git") || !exists(workspace / "evil/config")) << output.dump();
}

KERNEL_TEST(EscapeGit, SymlinkAboveAGuardedName) {
  const Workspace workspace;
  const nlohmann::json output = run_script(
      workspace,
      "mkdir -p real/workflows agent && echo evil > real/workflows/e.yml && ln -s real .github &&"
      "echo evil > agent/settings.json && ln -s agent .claude");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_EQ(read_file(workspace / ".github/workflows/e.yml"), "") << output.dump();
  EXPECT_EQ(read_file(workspace / ".claude/settings.json"), "") << output.dump();
}

}  // namespace
}  // namespace coop::tests
