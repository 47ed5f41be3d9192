// Names that count in every directory, in directories of packages to which a symlink leads from outside.
#include <nlohmann/json.hpp>

#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

void make_project(const Workspace& workspace) {
  make_directories(workspace / "app/sub");
  make_directories(workspace / "node_modules/left-pad");
  write_file(workspace / "app/main.js", "1");
}

// The user's directory is moved into packages, and a link takes its place. `plant` runs in the workspace, in the same run or in
// the next; `path` is what a host program would obey.
void expect_taken(const std::string& move, const std::string& plant, const std::string& path,
                  const std::string& guard) {
  {
    const Workspace workspace;
    make_project(workspace);
    const nlohmann::json control =
        run_script(workspace, move + "; " + plant, {"--allow-guarded", guard});
    EXPECT_TRUE(exists(workspace / path)) << control.dump();
  }
  {
    const Workspace workspace;
    make_project(workspace);
    const nlohmann::json output = run_script(workspace, move + "; " + plant);
    EXPECT_FALSE(exists(workspace / path)) << output.dump();
    EXPECT_TRUE(exists(workspace / "node_modules/app/main.js")) << output.dump();
  }
  const Workspace workspace;
  make_project(workspace);
  EXPECT_EQ(run_script(workspace, move).value("exit_code", -1), 0);
  EXPECT_EQ(run_script(workspace, "true").value("exit_code", -1), 0);
  const nlohmann::json output = run_script(workspace, plant);
  EXPECT_FALSE(exists(workspace / path)) << output.dump();
  EXPECT_EQ(output.value("quarantined", nlohmann::json::array()).size(), 1U) << output.dump();
}

const std::string kMove = "mv app node_modules/app; ln -s node_modules/app app";

KERNEL_TEST(EscapePackages, ADirectoryThatIsMovedThereBehindALink) {
  expect_taken(kMove, "echo evil > app/.envrc", "app/.envrc", ".envrc");
  expect_taken(kMove, "echo evil > node_modules/app/sub/.envrc", "app/sub/.envrc", ".envrc");
  expect_taken(kMove, "mkdir node_modules/app/.vscode; echo '{}' > app/.vscode/tasks.json",
               "app/.vscode/tasks.json", ".vscode");
}

KERNEL_TEST(EscapePackages, AChainOfLinks) {
  expect_taken(
      "mkdir lib; mv app node_modules/app; ln -s ../node_modules lib/all; ln -s lib/all/app app",
      "echo evil > node_modules/app/.envrc", "app/.envrc", ".envrc");
  expect_taken(kMove + "; mv app/sub node_modules/sub; ln -s ../sub node_modules/app/sub",
               "echo evil > node_modules/sub/.envrc", "app/sub/.envrc", ".envrc");
}

// The second run makes the directory.
KERNEL_TEST(EscapePackages, ALinkThatLedNowhere) {
  const Workspace workspace;
  make_project(workspace);
  run_script(workspace, "ln -s ../node_modules/new app/new");
  const std::string attack = "mkdir node_modules/new; echo evil > node_modules/new/.envrc";
  const nlohmann::json output = run_script(workspace, attack);
  EXPECT_FALSE(exists(workspace / "app/new/.envrc")) << output.dump();
  EXPECT_TRUE(exists(workspace / "node_modules/new")) << output.dump();
  run_script(workspace, "echo evil > node_modules/new/.envrc", {"--allow-guarded", ".envrc"});
  EXPECT_TRUE(exists(workspace / "app/new/.envrc"));  // control
}

// Made in packages by one run, where its name does not count; the next makes the link.
KERNEL_TEST(EscapePackages, ALinkToWhatAnEarlierRunMade) {
  const Workspace workspace;
  make_project(workspace);
  run_script(workspace, "echo evil > node_modules/left-pad/.envrc");
  ASSERT_EQ(run_bare({"sleep", "0.05"}).exit_code, 0);  // a tick of the file system's clock
  EXPECT_TRUE(exists(workspace / "node_modules/left-pad/.envrc"));  // control
  const nlohmann::json output =
      run_script(workspace, "mv app gone; ln -s node_modules/left-pad app; ln -s app too");
  EXPECT_FALSE(exists(workspace / "app/.envrc")) << output.dump();
  EXPECT_FALSE(exists(workspace / "too/.envrc")) << output.dump();
  // What a package has is left alone.
  EXPECT_TRUE(exists(workspace / "node_modules/left-pad/.envrc")) << output.dump();
}

// Where it leads depends on the directory in which the host program runs.
KERNEL_TEST(EscapePackages, ALinkThroughTheWorkingDirectory) {
  const Workspace workspace;
  make_project(workspace);
  const nlohmann::json output =
      run_script(workspace,
                 "mv app node_modules/app; ln -s /proc/self/cwd/node_modules/app app; "
                 "echo evil > node_modules/app/.envrc");
  EXPECT_NE(run_bare({"cat", "app/.envrc"}, {.directory = workspace.path()}).out, "evil\n")
      << output.dump();
}

KERNEL_TEST(EscapePackages, WhatTheUsersLinkLeadsToIsReadOnly) {
  const Workspace workspace;
  make_directories(workspace / "node_modules/app");
  write_file(workspace / "node_modules/app/.envrc", "mine");
  write_file(workspace / "node_modules/left-pad", "");
  make_symlink("node_modules/app", workspace / "app");
  expect_guarded(workspace, {"write", "node_modules/app/.envrc", "evil"}, ".envrc", {EROFS});
}

// As pnpm, yarn and npm make them.
KERNEL_TEST(EscapePackages, ControlLinksInPackagesChangeNothing) {
  const Workspace workspace;
  make_directories(workspace / "packages/p");
  const nlohmann::json output = run_script(
      workspace,
      "mkdir -p node_modules/.pnpm/a@1/node_modules/a packages/p/node_modules; "
      "ln -s .pnpm/a@1/node_modules/a node_modules/a; ln -s ../packages/p node_modules/p; "
      "ln -s ../../../node_modules/a packages/p/node_modules/a; echo x > node_modules/a/.envrc");
  EXPECT_TRUE(exists(workspace / "node_modules/a/.envrc")) << output.dump();
  EXPECT_FALSE(output.contains("quarantined") && !output["quarantined"].empty()) << output.dump();
}

// Each look takes all new links on the way, not one of many that lead to the same.
KERNEL_TEST(EscapePackages, ManyLinksToOneLink) {
  const Workspace workspace;
  make_project(workspace);
  run_script(workspace,
             "mkdir -p node_modules/U node_modules/T; echo evil > node_modules/U/.envrc");
  const nlohmann::json output = run_script(
      workspace,
      "ln -s ../U node_modules/T/N; for i in $(seq 20); do ln -s node_modules/T a$i; done");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  for (const char* const link : {"a1", "a12", "a20"})
    EXPECT_FALSE(exists(workspace / (std::string(link) + "/N/.envrc"))) << output.dump();
}

// What a link of the user's leads to is replaced: the file is taken, and the link stays.
KERNEL_TEST(EscapePackages, WhatALinkOfTheUsersLeadsToIsReplaced) {
  const Workspace workspace;
  make_project(workspace);
  ASSERT_EQ(run_bare({"ln", "-s", "node_modules/left-pad", workspace / "lib"}).exit_code, 0);
  run_script(workspace, "mkdir node_modules/.s; echo evil > node_modules/.s/.envrc");
  const nlohmann::json output = run_script(
      workspace, "mv node_modules/left-pad node_modules/o; ln -s .s node_modules/left-pad");
  EXPECT_FALSE(exists(workspace / "lib/.envrc")) << output.dump();
  EXPECT_EQ(run_bare({"readlink", workspace / "lib"}).out, "node_modules/left-pad\n")
      << output.dump();
}

KERNEL_TEST(EscapePackages, APathThatIsTooLong) {
  const Workspace workspace;
  make_project(workspace);
  const std::string deep =
      "d=node_modules; for i in $(seq 20); do d=$d/$(printf '%0200d' $i); done; mkdir -p $d; ln -s "
      "$d app2; ";
  const nlohmann::json output = run_script(workspace, deep + "echo evil > app2/.envrc");
  EXPECT_FALSE(exists(workspace / "app2/.envrc")) << output.dump();
}

// Taking away a symlink makes another one lead into packages.
KERNEL_TEST(EscapePackages, ALinkThatCountsWhenAnotherIsGone) {
  const Workspace workspace;
  make_project(workspace);
  run_script(workspace, "mkdir -p node_modules/p; echo evil > node_modules/p/.envrc");
  const nlohmann::json output =
      run_script(workspace,
                 "mkdir d; ln -s .. d/.vscode; ln -s d/.vscode/../node_modules/p L; git init -q g; "
                 "rm -rf g/.git/hooks; "
                 "ln -s ../.. g/.git/hooks; ln -s g/.git/hooks/../../../node_modules/p M");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  make_directories(workspace / "d/.vscode");
  make_directories(workspace / "g/.git/hooks");
  EXPECT_FALSE(exists(workspace / "L/.envrc")) << output.dump();
  EXPECT_FALSE(exists(workspace / "M/.envrc")) << output.dump();
}

// Each look takes one, and makes the next one count.
KERNEL_TEST(EscapePackages, ALongChainOfLinksThroughLinks) {
  const Workspace workspace;
  make_project(workspace);
  run_script(workspace, "mkdir -p node_modules/p; echo evil > node_modules/p/.envrc");
  const nlohmann::json output = run_script(workspace,
                                           "ln -s node_modules/p L0; for i in $(seq 30); do ln -s "
                                           "L$((i-1))/../node_modules/p L$i; done");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  for (int number = 0; number <= 30; ++number) {
    make_directories(workspace / "L0");
    EXPECT_FALSE(exists(workspace / ("L" + std::to_string(number) + "/.envrc"))) << output.dump();
  }
}

}  // namespace
}  // namespace coop::tests
