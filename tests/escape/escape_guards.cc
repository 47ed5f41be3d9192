// Files in the workspace that programs of the host obey: hooks, settings, pipelines.
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

// A repository with everything git's own template would have made.
void make_repository(const std::string& directory) {
  for (const char* name : {"/.git/hooks", "/.git/objects", "/.git/refs/heads", "/.git/info"})
    make_directories(directory + name);
  write_file(directory + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(directory + "/.git/config", "[core]\n\tbare = false\n");
  write_file(directory + "/.git/hooks/pre-commit.sample", "#!/bin/sh\n");
}

KERNEL_TEST(EscapeGuards, WritingAHook) {
  const Workspace workspace;
  make_repository(workspace.path());
  expect_guarded(workspace, {"write", ".git/hooks/pre-commit", "evil"}, ".git/hooks", {EROFS});
}

KERNEL_TEST(EscapeGuards, ChangingAnExistingHook) {
  const Workspace workspace;
  make_repository(workspace.path());
  write_file(workspace / ".git/hooks/pre-push", "good");
  EXPECT_TRUE(blocked(workspace.inside({"write", ".git/hooks/pre-push", "evil"}), EROFS));
  EXPECT_TRUE(blocked(workspace.inside({"chmod", ".git/hooks/pre-commit.sample", "0755"}), EROFS));
  EXPECT_TRUE(
      blocked(workspace.inside({"rename", ".git/hooks/pre-commit.sample", ".git/hooks/pre-commit"}),
              EROFS));
  EXPECT_EQ(read_file(workspace / ".git/hooks/pre-push"), "good");
  EXPECT_TRUE(escaped(workspace.inside({"write", ".git/hooks/pre-push", "evil"},
                                       {"--allow-guarded", ".git/hooks"})));
}

KERNEL_TEST(EscapeGuards, WritingTheGitConfiguration) {
  const Workspace workspace;
  make_repository(workspace.path());
  expect_guarded(workspace, {"write", ".git/config", "[core]\n\tfsmonitor = /work/evil\n"},
                 ".git/config", {EROFS});
}

KERNEL_TEST(EscapeGuards, RenamingOverTheGitConfiguration) {
  const Workspace workspace;
  make_repository(workspace.path());
  write_file(workspace / ".git/evil", "[core]\n\tpager = evil\n");
  const std::string before = read_file(workspace / ".git/config");
  EXPECT_TRUE(
      blocked(workspace.inside({"rename", ".git/evil", ".git/config"}), {EBUSY, EROFS, EXDEV}));
  EXPECT_TRUE(
      blocked(workspace.inside({"exchange", ".git/evil", ".git/config"}), {EBUSY, EROFS, EXDEV}));
  EXPECT_TRUE(blocked(workspace.inside({"unlink", ".git/config"}), {EBUSY, EROFS}));
  EXPECT_EQ(read_file(workspace / ".git/config"), before);
  EXPECT_TRUE(escaped(workspace.inside({"rename", ".git/evil", ".git/config"},
                                       {"--allow-guarded", ".git/config"})));
}

KERNEL_TEST(EscapeGuards, MovingTheHooksDirectoryAway) {
  const Workspace workspace;
  make_repository(workspace.path());
  expect_guarded(workspace, {"rename", ".git/hooks", ".git/old-hooks"}, ".git/hooks",
                 {EBUSY, EROFS, EXDEV});
}

KERNEL_TEST(EscapeGuards, MovingTheWholeRepositoryAway) {
  // The parent of a mount point may be renamed; what then takes its place is judged at the end.
  const Workspace workspace;
  make_repository(workspace.path());
  const Ran ran = workspace.run(
      {"sh", "-c", "mv .git away; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit"});
  EXPECT_NE(ran.exit_code, 125) << ran.err;
  EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit"));
  const Ran control =
      workspace.run({"sh", "-c", "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"},
                    {"--allow-guarded", ".git/hooks"});
  EXPECT_TRUE(exists(workspace / ".git/hooks/pre-commit")) << control.err;
}

KERNEL_TEST(EscapeGuards, HardLinkToTheGitConfiguration) {
  const Workspace workspace;
  make_repository(workspace.path());
  expect_guarded(workspace, {"link", ".git/config", ".git/alias"}, ".git/config", {EXDEV, EROFS});
}

KERNEL_TEST(EscapeGuards, AHardLinkThatWasThereBefore) {
  // A second name in the workspace for a guarded file: the mount guards names, not inodes. What
  // cannot be refused must be told.
  const Workspace workspace;
  make_repository(workspace.path());
  ASSERT_TRUE(escaped(workspace.outside({"link", ".git/config", "alias"})));
  const std::string before = read_file(workspace / ".git/config");
  const nlohmann::json output =
      json_of(workspace.inside({"write", "alias", "[alias]\n\tst = !evil\n"}, {"--json"}));
  const std::string told = output.value("notes", nlohmann::json::array()).dump();
  EXPECT_TRUE(read_file(workspace / ".git/config") == before ||
              told.find(".git/config") != std::string::npos)
      << told;
}

KERNEL_TEST(EscapeGuards, HooksOfANestedRepository) {
  const Workspace workspace;
  make_repository(workspace / "vendor/library");
  expect_guarded(workspace, {"write", "vendor/library/.git/hooks/post-checkout", "evil"},
                 ".git/hooks", {EROFS});
}

KERNEL_TEST(EscapeGuards, HooksOfASubmodule) {
  const Workspace workspace;
  make_repository(workspace.path());
  for (const char* name :
       {".git/modules/sub/hooks", ".git/modules/sub/objects", ".git/modules/sub/refs", "sub"})
    make_directories(workspace / name);
  write_file(workspace / ".git/modules/sub/HEAD", "ref: refs/heads/main\n");
  write_file(workspace / ".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
  write_file(workspace / "sub/.git", "gitdir: ../.git/modules/sub\n");
  expect_guarded(workspace, {"write", ".git/modules/sub/hooks/post-checkout", "evil"}, ".git/hooks",
                 {EROFS});
  expect_guarded(workspace, {"write", ".git/modules/sub/config", "[core]\n\tpager = x\n"},
                 ".git/config", {EROFS});
}

KERNEL_TEST(EscapeGuards, HooksDirectoryThatIsASymlink) {
  const Workspace workspace;
  make_repository(workspace.path());
  make_directories(workspace / "tools/hooks");
  ASSERT_EQ(::rename((workspace / ".git/hooks").c_str(), (workspace / "old").c_str()), 0);
  make_symlink("../tools/hooks", workspace / ".git/hooks");
  const Ran ran = workspace.inside({"write", ".git/hooks/pre-commit", "evil"});
  EXPECT_TRUE(ran.exit_code == 125 || !exists(workspace / "tools/hooks/pre-commit")) << ran.err;
}

// A second name of the workspace, where guards would not hold, is refused.
KERNEL_TEST(EscapeGuards, TheWorkspaceUnderASecondName) {
  const Workspace workspace;
  make_repository(workspace.path());
  const std::string above = workspace.around().path();
  const Arguments attack{"write", workspace / ".git/hooks/pre-commit", "evil"};
  EXPECT_TRUE(escaped(workspace.outside(attack)));
  std::filesystem::remove(workspace / ".git/hooks/pre-commit");
  make_symlink(above, above + "/link");
  for (const std::string& granted : {above, above + "/link"}) {
    const Ran ran = workspace.inside(attack, {"--rw", granted});
    EXPECT_EQ(ran.exit_code, 125) << ran.out;
    EXPECT_NE(ran.err.find("--view host"), std::string::npos) << ran.err;
    EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit"));
    const Ran host = workspace.inside(attack, {"--rw", granted, "--view", "host"});
    EXPECT_FALSE(escaped(host)) << host.out;
    EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit"));
  }
}

KERNEL_TEST(EscapeGuards, EditorAgentAndPipelineFilesThatExist) {
  const Workspace workspace;
  for (const char* directory :
       {".vscode", ".idea", ".github/workflows", ".circleci", ".coop", ".husky"}) {
    make_directories(workspace / directory);
    write_file(workspace / (std::string(directory) + "/file"), "good");
    expect_guarded(workspace, {"write", std::string(directory) + "/file", "evil"}, directory,
                   {EROFS});
  }
  for (const char* file : {".envrc", ".mcp.json", ".gitlab-ci.yml", "Jenkinsfile"}) {
    write_file(workspace / file, "good");
    expect_guarded(workspace, {"write", file, "evil"}, file, {EROFS});
  }
}

// As root. Another user's private directory keeps init out, which has no capability over that user's files, and so the
// command too: the sandbox starts, and what others may get to is guarded.
KERNEL_TEST(EscapeGuards, FilesInAnotherUsersPrivateDirectory) {
  const Workspace workspace;
  if (!is_root()) GTEST_SKIP() << "only root can make the directory of another user";
  make_directories(workspace / "private/.vscode");
  make_directories(workspace / "private/r");
  write_file(workspace / "private/.vscode/tasks.json", "{}");
  ASSERT_EQ(run_bare({"git", "init", "-q", workspace / "private/r"}).exit_code, 0);
  ASSERT_EQ(run_bare({"chown", "-R", "65534:65534", workspace / "private"}).exit_code, 0);
  ASSERT_EQ(run_bare({"chmod", "-R", "a+rwX", workspace / "private"}).exit_code, 0);
  for (const char* const file : {"private/.vscode/tasks.json", "private/r/.git/config"}) {
    ASSERT_EQ(::chmod((workspace / "private").c_str(), 0700), 0);
    for (const char* const view : {"minimal", "host"}) {
      const Ran locked = workspace.inside({"write", file, "evil"}, {"--view", view});
      EXPECT_TRUE(blocked(locked, EACCES)) << file << locked.err;
    }
    ASSERT_EQ(::chmod((workspace / "private").c_str(), 0777), 0);
    EXPECT_TRUE(blocked(workspace.inside({"write", file, "evil"}), {EROFS, EACCES})) << file;
    EXPECT_TRUE(escaped(workspace.outside({"write", file, "evil"}))) << file;
  }
}

// What a policy protects is not put back in the end, so without its mount the sandbox does not start: that user could open the
// directory meanwhile.
KERNEL_TEST(EscapeGuards, AProtectedPathInAnotherUsersPrivateDirectory) {
  const Workspace workspace;
  if (!is_root()) GTEST_SKIP() << "only root can make the directory of another user";
  make_directories(workspace / "private");
  write_file(workspace / "private/keep", "kept");
  ASSERT_EQ(run_bare({"chown", "-R", "65534:65534", workspace / "private"}).exit_code, 0);
  const Arguments flags{"--ro", workspace / "private/keep"};
  EXPECT_EQ(workspace.inside({"arguments"}, flags).exit_code, 0);  // control
  ASSERT_EQ(::chmod((workspace / "private").c_str(), 0700), 0);
  EXPECT_EQ(workspace.inside({"arguments"}, flags).exit_code, 125);
}

}  // namespace
}  // namespace coop::tests
