// Guarded files: read-only if they exist, quarantined if they appear, and never lost.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

void make_repository(const std::string& directory) {
  const Ran ran = run_bare({"git", "-c", "init.defaultBranch=main", "init", "-q", directory});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
}

KERNEL_TEST(KernelGuards, ExistingGuardedFilesAreReadOnly) {
  const Workspace workspace;
  make_repository(workspace.path());
  for (const char* directory : {".vscode", ".github/workflows"})
    make_directories(workspace / directory);
  for (const char* file : {".envrc", ".mcp.json", ".vscode/tasks.json", ".github/workflows/ci.yml"})
    write_file(workspace / file, "good\n");
  for (const std::string& view : kViews)
    for (const char* file : {".git/hooks/pre-commit", ".git/config", ".envrc", ".mcp.json",
                             ".vscode/tasks.json", ".github/workflows/ci.yml"}) {
      const std::string before = read_file(workspace / file);
      EXPECT_NE(workspace.run(shell("echo evil >> " + std::string(file)), in_view(view)).exit_code,
                0)
          << file;
      EXPECT_EQ(read_file(workspace / file), before) << file;
    }
  EXPECT_EQ(workspace.run(shell("echo fine > ordinary; cat .envrc .git/HEAD")).out,
            "good\nref: refs/heads/main\n");  // control
}

KERNEL_TEST(KernelGuards, TheirDirectoriesCannotBeMovedAway) {
  const Workspace workspace;
  make_repository(workspace.path());
  for (const std::string& view : kViews) {
    EXPECT_NE(workspace.run({"mv", ".git", "x"}, in_view(view)).exit_code, 0);
    EXPECT_NE(workspace.run({"mv", ".git/hooks", ".git/x"}, in_view(view)).exit_code, 0);
    EXPECT_NE(
        workspace.run(shell("rm -rf .git/hooks .git/config; [ ! -e .git/config ]"), in_view(view))
            .exit_code,
        0);
  }
  EXPECT_TRUE(exists(workspace / ".git/config"));
  EXPECT_EQ(workspace.run(shell("mkdir d; mv d e")).exit_code, 0);  // control
}

KERNEL_TEST(KernelGuards, AllowGuardedPermitsExactlyThatName) {
  const Workspace workspace;
  make_repository(workspace.path());
  const Ran ran =
      workspace.run(shell("echo '#!/bin/sh' > .git/hooks/pre-commit; echo x >> .git/config"),
                    {"--allow-guarded", ".git/hooks"});
  EXPECT_NE(ran.exit_code, 0);  // the second one
  EXPECT_EQ(read_file(workspace / ".git/hooks/pre-commit"), "#!/bin/sh\n");
  EXPECT_EQ(workspace.run(shell("git config user.name ann"), {"--allow-guarded", ".git/config"})
                .exit_code,
            0);
  EXPECT_THAT(read_file(workspace / ".git/config"), HasSubstr("ann"));
  const Ran created =
      workspace.run(shell("echo x > .envrc"), {"--allow-guarded", ".envrc", "--json"});
  EXPECT_EQ(json_of(created)["quarantined"], nlohmann::json::array());
  EXPECT_EQ(read_file(workspace / ".envrc"), "x\n");
}

KERNEL_TEST(KernelGuards, WhatAppearsIsQuarantinedWithItsBytes) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("echo evil > .envrc; mkdir -p .vscode; echo tasks > "
                                      ".vscode/tasks.json; echo fine > ordinary; chmod 741 .envrc"),
                                {"--json"}, workspace.options());
  EXPECT_EQ(ran.exit_code, 0);  // the command itself did well
  const nlohmann::json json = json_of(ran);
  std::map<std::string, nlohmann::json> moved;
  for (const nlohmann::json& entry : json["quarantined"]) moved[entry["path"]] = entry;
  ASSERT_EQ(moved.size(), 2u) << ran.out;
  EXPECT_EQ(moved[workspace / ".envrc"]["rule"], "guard .envrc");
  EXPECT_EQ(moved[workspace / ".vscode"]["rule"], "guard .vscode");
  const std::string kept = moved[workspace / ".envrc"]["moved_to"];
  EXPECT_TRUE(kept.starts_with((workspace.around() / "state/coop/quarantine/") +
                               json["session"].get<std::string>()))
      << kept;
  EXPECT_EQ(read_file(kept), "evil\n");
  struct stat status{};
  ASSERT_EQ(::stat(kept.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0741u);
  EXPECT_EQ(read_file(moved[workspace / ".vscode"]["moved_to"].get<std::string>() + "/tasks.json"),
            "tasks\n");
  EXPECT_FALSE(exists(workspace / ".envrc"));
  EXPECT_FALSE(exists(workspace / ".vscode"));
  EXPECT_EQ(read_file(workspace / "ordinary"), "fine\n");
  ASSERT_EQ(json["denials"].size(), 2u);
  EXPECT_EQ(json["denials"][0]["grant"],
            "--allow-guarded " + json["denials"][0]["rule"].get<std::string>().substr(6));
}

KERNEL_TEST(KernelGuards, TheQuarantineIsToldOnStandardError) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("echo evil > .envrc"));
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, HasSubstr("quarantined " + (workspace / ".envrc") + " to "));
  EXPECT_THAT(ran.err, HasSubstr("--allow-guarded .envrc"));
}

KERNEL_TEST(KernelGuards, HooksOfANestedRepositoryAreTakenAway) {
  const Workspace workspace;
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(
        shell("git -c init.defaultBranch=main init -q deep/nested-" + view + "; cd deep/nested-" +
              view + "; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout"),
        in_view(view, {"--json"}), workspace.options());
    EXPECT_FALSE(exists(workspace / ("deep/nested-" + view + "/.git/hooks/post-checkout")))
        << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("guard .git/hooks"));
    EXPECT_THAT(run_bare({"grep", "-rl", "evil", workspace.around() / "state"}).out,
                HasSubstr("nested-" + view));
  }
}

KERNEL_TEST(KernelGuards, ThatNextRunFindsAnExistingHookOfTheHostUntouched) {
  // Files that the owner adds between two runs stay.
  const Workspace workspace;
  make_repository(workspace / "nested");
  write_file(workspace / "nested/.git/hooks/pre-commit", "mine\n");
  write_file(workspace / ".envrc", "mine\n");
  const Ran ran = workspace.run(shell("echo x > y"), {"--json"});
  EXPECT_EQ(json_of(ran)["quarantined"], nlohmann::json::array());
  EXPECT_EQ(read_file(workspace / "nested/.git/hooks/pre-commit"), "mine\n");
  EXPECT_EQ(read_file(workspace / ".envrc"), "mine\n");
}

KERNEL_TEST(KernelGuards, WhatGitsConfigurationNamesIsReadOnlyAndGitStillWorks) {
  const Workspace workspace;
  make_repository(workspace.path());
  make_directories(workspace / ".husky/a/_");
  write_file(workspace / ".husky/a/_/pre-commit", "#!/bin/sh\ntouch ran\n");
  ASSERT_EQ(run_bare({"chmod", "755", workspace / ".husky/a/_/pre-commit"}).exit_code, 0);
  write_file(workspace / ".gitconfig-local", "[user]\n\tname = ann\n\temail = a@b\n");
  for (const Arguments& setting :
       {Arguments{"core.hooksPath", ".husky/a/_"}, {"include.path", "../.gitconfig-local"}})
    ASSERT_EQ(run_bare({"git", "-C", workspace.path(), "config", setting[0], setting[1]}).exit_code,
              0);
  for (const std::string& view : kViews) {
    for (const char* file : {".husky/a/_/pre-commit", ".husky/a/new", ".gitconfig-local"})
      EXPECT_NE(workspace.run(shell("echo evil >> " + std::string(file)), in_view(view)).exit_code,
                0)
          << file;
    const Ran commit =
        workspace.run(shell("rm -f ran; echo x >> file; git add file && git commit -qm x"),
                      in_view(view, {"--json"}));
    EXPECT_EQ(json_of(commit)["exit_code"], 0) << commit.out << commit.err;
    EXPECT_EQ(json_of(commit)["quarantined"], nlohmann::json::array());
    EXPECT_TRUE(exists(workspace / "ran"));
  }
  EXPECT_THAT(read_file(workspace / ".gitconfig-local"), HasSubstr("name = ann"));
}

KERNEL_TEST(KernelGuards, AHooksPathThatIsTheWholeTreeIsToldAndBreaksNothing) {
  const Workspace workspace;
  make_repository(workspace.path());
  ASSERT_EQ(run_bare({"git", "-C", workspace.path(), "config", "core.hooksPath", "."}).exit_code,
            0);
  const Ran ran = workspace.run(shell("echo x > file; git add file"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(exists(workspace / "file"));
  EXPECT_THAT(ran.err, HasSubstr("hooks in it are not guarded"));
}

KERNEL_TEST(KernelGuards, HooksInAnotherWritableTreeAreGuarded) {
  const Workspace workspace;
  make_repository(workspace.path());
  const std::string other = workspace.around() / "other";
  make_directories(other + "/hooks");
  ASSERT_EQ(run_bare({"git", "-C", workspace.path(), "config", "core.hooksPath", other + "/hooks"})
                .exit_code,
            0);
  ASSERT_EQ(
      run_bare({"git", "-C", workspace.path(), "config", "include.path", other + "/c"}).exit_code,
      0);
  const Ran ran = workspace.run(
      shell("cd " + other + "; echo x > c; echo x > fine; echo evil > hooks/pre-push"),
      {"--rw", other, "--json"});
  EXPECT_NE(json_of(ran)["exit_code"], 0);
  EXPECT_FALSE(exists(other + "/hooks/pre-push")) << ran.out;
  EXPECT_FALSE(exists(other + "/c")) << ran.out;
  EXPECT_TRUE(exists(other + "/fine")) << ran.out;
}

KERNEL_TEST(KernelGuards, AReadOnlyWorkspaceIsNotWatched) {
  const Workspace workspace;
  const Ran ran = workspace.run({"true"}, {"--ro", ".", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(json_of(ran)["quarantined"], nlohmann::json::array());
}

KERNEL_TEST(KernelGuards, AFailedOrKilledCommandIsJudgedToo) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run(shell("echo evil > .envrc; exit 9")).exit_code, 9);
  EXPECT_FALSE(exists(workspace / ".envrc"));
  EXPECT_EQ(workspace.run(shell("echo evil > .envrc; sleep 60"), {"--timeout", "500ms"}).exit_code,
            124);
  EXPECT_FALSE(exists(workspace / ".envrc"));
}

}  // namespace
}  // namespace coop::tests
