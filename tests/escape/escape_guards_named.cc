// Hooks and settings at the paths that git's configuration names.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

void git(const std::string& directory, const Arguments& arguments) {
  Arguments all{"git", "-C", directory};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Ran ran = run_bare(all);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
}

// core.hooksPath is "githooks", with a hook in it; ".gitconfig-local" is included and missing.
void make_repository_with_hooks_path(const std::string& directory) {
  make_directories(directory + "/githooks");
  git(directory, {"-c", "init.defaultBranch=main", "init", "-q"});
  git(directory, {"config", "core.hooksPath", "githooks"});
  git(directory, {"config", "include.path", "../.gitconfig-local"});
  write_file(directory + "/githooks/pre-commit", "#!/bin/sh\n");
  ASSERT_EQ(run_bare({"chmod", "755", directory + "/githooks/pre-commit"}).exit_code, 0);
}

KERNEL_TEST(EscapeGuardsNamed, ChangingAHook) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  expect_guarded(workspace, {"write", "githooks/pre-commit", "evil"}, ".git/hooks", {EROFS});
}

// "~NAME/hooks": git looks up the account's home. That of "daemon" is /usr/sbin.
KERNEL_TEST(EscapeGuardsNamed, ChangingAHookBelowTheHomeOfAnAccount) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  git(workspace.path(),
      {"config", "core.hooksPath", "~daemon/../.." + workspace.path() + "/githooks"});
  expect_guarded(workspace, {"write", "githooks/post-commit", "evil"}, ".git/hooks", {EROFS});
}

KERNEL_TEST(EscapeGuardsNamed, MakingAHook) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  expect_guarded(workspace, {"write", "githooks/post-checkout", "evil"}, ".git/hooks", {EROFS});
}

KERNEL_TEST(EscapeGuardsNamed, ReplacingTheHooksDirectory) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  expect_guarded(workspace, {"rename", "githooks", "old"}, ".git/hooks", {EBUSY, EROFS, EXDEV});
}

KERNEL_TEST(EscapeGuardsNamed, ReplacingADirectoryAboveTheHooks) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  make_directories(workspace / "tools/hooks");
  git(workspace.path(), {"config", "core.hooksPath", "tools/hooks"});
  expect_guarded(workspace, {"rename", "tools", "old"}, ".git/hooks", {EBUSY, EROFS, EXDEV});
}

// "githooks/pre-commit -> ../scripts/check": the host runs what it leads to.
KERNEL_TEST(EscapeGuardsNamed, ChangingWhatALinkInTheHooksDirectoryLeadsTo) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  make_directories(workspace / "scripts");
  write_file(workspace / "scripts/check", "#!/bin/sh\n");
  ASSERT_EQ(
      run_bare({"ln", "-s", "../scripts/check", workspace / "githooks/post-commit"}).exit_code, 0);
  expect_guarded(workspace, {"write", "scripts/check", "evil"}, ".git/hooks", {EROFS});
}

// And a link on the way there: "githooks/post-commit -> ../check -> scripts/check".
KERNEL_TEST(EscapeGuardsNamed, ReplacingALinkOnTheWayToAHook) {
  for (const std::string hooks : {"githooks", ".git/hooks"}) {
    const Workspace workspace;
    make_repository_with_hooks_path(workspace.path());
    if (hooks == ".git/hooks") git(workspace.path(), {"config", "--unset", "core.hooksPath"});
    make_directories(workspace / "scripts");
    write_file(workspace / "scripts/check", "#!/bin/sh\n");
    make_symlink("scripts/check", workspace / "check");
    make_symlink(workspace / "check", workspace / (hooks + "/post-commit"));
    const std::string attack = "rm check; echo evil > check";
    EXPECT_EQ(workspace.run({"sh", "-c", attack}, {"--allow-guarded", ".git/hooks"}).exit_code, 0);
    EXPECT_EQ(read_file(workspace / "check"), "evil\n");  // control
    ASSERT_EQ(run_bare({"ln", "-sf", "scripts/check", workspace / "check"}).exit_code, 0);
    run_script(workspace, attack);
    EXPECT_EQ(read_file(workspace / (hooks + "/post-commit")), "#!/bin/sh\n") << hooks;
  }
}

// Whatever a new link on the way leads to, and even if it cannot be resolved.
KERNEL_TEST(EscapeGuardsNamed, ReplacingALinkOnTheWayByOneThatCannotBeFollowed) {
  const std::string loop = "ln -s b tools/a; ln -s a tools/b; ln -s a tools/pc";
  const std::string magic = "ln -s /proc/self/cwd/evil tools/pc; touch evil";
  const std::string deep =
      "n=$(printf 'd%.0s' $(seq 200)); t=; cd tools; for i in $(seq 22); do mkdir $n; cd $n; done; "
      "echo evil > evil; cd \"$OLD\"; for i in $(seq 18); do t=$t$n/; done; "
      "ln -s $t tools/pc";
  for (const std::string& way : {loop, magic, "OLD=$PWD; " + deep, std::string("mkdir tools/pc")}) {
    const Workspace workspace;
    make_repository_with_hooks_path(workspace.path());
    make_directories(workspace / "tools");
    make_directories(workspace / "impl");
    write_file(workspace / "impl/pc", "#!/bin/sh\n");
    make_symlink("../impl/pc", workspace / "tools/pc");
    make_symlink("../tools/pc", workspace / "githooks/post-commit");
    const std::string attack = "rm tools/pc; " + way;
    workspace.run({"bash", "-c", attack}, {"--allow-guarded", ".git/hooks"});
    EXPECT_NE(read_file(workspace / "githooks/post-commit"), "#!/bin/sh\n") << way;  // control
    ASSERT_EQ(run_bare({"rm", "-rf", workspace / "tools"}).exit_code, 0);
    make_directories(workspace / "tools");
    make_symlink("../impl/pc", workspace / "tools/pc");
    workspace.run({"bash", "-c", attack});
    EXPECT_EQ(read_file(workspace / "githooks/post-commit"), "#!/bin/sh\n") << way;
  }
}

// For an ordinary user the first look cannot search the directory of the target, but the last one can.
KERNEL_TEST(EscapeGuardsNamed, ATargetInADirectoryThatCannotBeSearchedStays) {
  const Workspace workspace;
  make_directories(workspace / ".husky");
  make_directories(workspace / "tools");
  write_file(workspace / "tools/pc", "mine");
  make_symlink("../tools/pc", workspace / ".husky/pre-commit");
  for (const std::string guard : {".husky", ""}) {
    ASSERT_EQ(run_bare({"chmod", "0", workspace / "tools"}).exit_code, 0);
    const Arguments allowed = guard.empty() ? Arguments{} : Arguments{"--allow-guarded", guard};
    const std::string attack = "chmod 755 tools; echo evil > tools/pc";
    const nlohmann::json output = run_script(workspace, attack, allowed);
    EXPECT_EQ(read_file(workspace / "tools/pc"), guard.empty() ? "mine" : "evil\n") << output;
    write_file(workspace / "tools/pc", "mine");
  }
}

// A link far down in a guarded directory.
KERNEL_TEST(EscapeGuardsNamed, LinksFarDownAreFollowed) {
  const Workspace workspace;
  make_directories(workspace / ".husky/a/b/c/d/e");
  make_directories(workspace / "scripts");
  write_file(workspace / "scripts/check", "#!/bin/sh\n");
  make_symlink(workspace / "scripts/check", workspace / ".husky/a/b/c/d/e/check");
  expect_guarded(workspace, {"write", "scripts/check", "evil"}, ".husky", {EROFS});
}

// A hooks directory that is not visible inside, with links into the workspace.
KERNEL_TEST(EscapeGuardsNamed, ChangingWhatAHookOutsideLeadsTo) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  const std::string outside = workspace.around() / "hooks";
  make_directories(outside);
  make_directories(workspace / "scripts");
  write_file(workspace / "scripts/check", "#!/bin/sh\n");
  make_symlink(workspace / "scripts/check", outside + "/pre-commit");
  make_symlink(workspace / "scripts/missing", outside + "/post-commit");
  const std::initializer_list<Arguments> kWays{
      {"config", "core.hooksPath", outside},
      {"config", "core.hooksPath", "../hooks"},
      {"config", "--unset", "core.hooksPath"},  // .git/hooks is a link to it
  };
  for (const Arguments& way : kWays) {
    git(workspace.path(), way);
    if (way[1] == "--unset") {
      ASSERT_EQ(run_bare({"rm", "-rf", workspace / ".git/hooks"}).exit_code, 0);
      make_symlink(outside, workspace / ".git/hooks");
    }
    expect_guarded(workspace, {"write", "scripts/check", "evil"}, ".git/hooks", {EROFS});
    const nlohmann::json made = run_script(workspace, "echo evil > scripts/missing");
    EXPECT_FALSE(exists(workspace / "scripts/missing")) << way[1];
    EXPECT_FALSE(entry_for(made, workspace / "scripts/missing").is_null()) << made;
  }
}

// What the user links meanwhile and nothing has changed stays.
KERNEL_TEST(EscapeGuardsNamed, ControlALinkOutsideToTheUsersOwnFileTakesNothing) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  const std::string outside = workspace.around() / "hooks";
  make_directories(outside);
  git(workspace.path(), {"config", "core.hooksPath", outside});
  make_directories(workspace / "scripts");
  write_file(workspace / "scripts/check", "#!/bin/sh\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Process coop({coop_binary(), "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
                "touch ready; while [ ! -e go ]; do sleep 0.01; done; rm ready go"},
               workspace.options());
  for (int attempt = 0; attempt < 1500 && !exists(workspace / "ready"); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  make_symlink(workspace / "scripts/check", outside + "/pre-commit");
  write_file(workspace / "go", "");
  EXPECT_EQ(coop.finish().exit_code, 0);
  EXPECT_TRUE(exists(workspace / "scripts/check"));
}

// Thousands of links or names of another sandbox must not use up what is followed for the user's.
KERNEL_TEST(EscapeGuardsNamed, TooManyLinksOrNamesAreAnError) {
  const Workspace workspace;
  git(workspace.path(), {"init", "-q"});
  const auto run = [&] { return workspace.run({"true"}, {}, workspace.options()); };
  EXPECT_EQ(run().exit_code, 0);  // control
  ASSERT_EQ(
      run_bare(
          {"sh", "-c",
           "cd " + workspace.path() +
               "; for i in $(seq 1200); do echo \"[core] hooksPath = h$i\"; done >> .git/config"})
          .exit_code,
      0);
  Ran ran = run();
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_NE(ran.err.find("git's settings name"), std::string::npos) << ran.err;
  git(workspace.path(), {"init", "-q", "other"});
  write_file(workspace / ".git/config", "");
  ASSERT_EQ(run_bare({"sh", "-c",
                      "cd " + workspace.path() +
                          "/other/.git/hooks; for i in $(seq 1100); do ln -s x l$i; done"})
                .exit_code,
            0);
  ran = run();
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
}

// The user chooses the hooks directory while a command runs that has it writable.
KERNEL_TEST(EscapeGuardsNamed, HooksThatTheUserNamesDuringTheRun) {
  const Workspace workspace;
  make_directories(workspace / "githooks");
  git(workspace.path(), {"init", "-q"});
  write_file(workspace / "githooks/pre-commit", "#!/bin/sh\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  RunOptions options = workspace.options();
  const std::string settings = options.environment.at("HOME") + "/.gitconfig";
  const auto attack = [&](const std::string& name) {
    Process coop({coop_binary(), "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
                  "touch ready; while [ ! -e go ]; do sleep 0.01; done; "
                  "echo evil > githooks/pre-commit; rm ready go"},
                 options);
    for (int attempt = 0; attempt < 1500 && !exists(workspace / "ready"); ++attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    write_file(settings, "[core]\n\t" + name + " = " + (workspace / "githooks") + "\n");
    write_file(workspace / "go", "");
    return coop.finish();
  };
  Ran ran = attack("editor");  // control: git does not look there
  EXPECT_EQ(read_file(workspace / "githooks/pre-commit"), "evil\n") << ran.out << ran.err;
  write_file(settings, "");
  ran = attack("hooksPath");
  EXPECT_FALSE(exists(workspace / "githooks/pre-commit")) << ran.out << ran.err;
  EXPECT_FALSE(entry_for(json_of(ran), workspace / "githooks").is_null()) << ran.out;
}

KERNEL_TEST(EscapeGuardsNamed, MakingTheHooksDirectory) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  git(workspace.path(), {"config", "core.hooksPath", "tools/hooks"});
  const Arguments attack{"sh", "-c", "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit"};
  const nlohmann::json output = json_of(workspace.run(attack, {"--json"}));
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_FALSE(exists(workspace / "tools/hooks")) << output.dump();
  workspace.run(attack, {"--allow-guarded", ".git/hooks"});
  EXPECT_TRUE(exists(workspace / "tools/hooks/pre-commit"));  // control
}

KERNEL_TEST(EscapeGuardsNamed, MakingTheIncludedFile) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  const Arguments attack{"sh", "-c", "printf '[alias]\\n st = !echo EVIL\\n' > .gitconfig-local"};
  const nlohmann::json output = json_of(workspace.run(attack, {"--json"}));
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_FALSE(exists(workspace / ".gitconfig-local")) << output.dump();
  EXPECT_EQ(output["quarantined"][0].value("rule", ""), "guard .git/config") << output.dump();
  EXPECT_NE(run_bare({"git", "-C", workspace.path(), "st"}).exit_code, 0);
  workspace.run(attack, {"--allow-guarded", ".git/config"});
  EXPECT_EQ(run_bare({"git", "-C", workspace.path(), "st"}).out, "EVIL\n");  // control
}

KERNEL_TEST(EscapeGuardsNamed, ChangingTheIncludedFile) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  write_file(workspace / ".gitconfig-local", "[include]\n\tpath = more\n");
  write_file(workspace / "more", "[user]\n");
  expect_guarded(workspace, {"write", ".gitconfig-local", "evil"}, ".git/config", {EROFS});
  write_file(workspace / ".gitconfig-local", "[include]\n\tpath = more\n");
  expect_guarded(workspace, {"write", "more", "evil"}, ".git/config", {EROFS});
}

KERNEL_TEST(EscapeGuardsNamed, HooksOfANestedRepository) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace / "vendor/library");
  expect_guarded(workspace, {"write", "vendor/library/githooks/pre-commit", "evil"}, ".git/hooks",
                 {EROFS});
}

KERNEL_TEST(EscapeGuardsNamed, ASymlinkInThePlaceOfTheHooks) {
  const Workspace workspace;
  make_repository_with_hooks_path(workspace.path());
  git(workspace.path(), {"config", "core.hooksPath", "link/hooks"});
  make_directories(workspace / "real/hooks");
  make_symlink("real", workspace / "link");
  EXPECT_TRUE(blocked(workspace.inside({"write", "real/hooks/pre-commit", "evil"}), EROFS));
  workspace.run({"sh", "-c", "mkdir -p evil/hooks; rm link; ln -s evil link"});
  EXPECT_FALSE(exists(workspace / "link/hooks/pre-commit"));
  EXPECT_EQ(run_bare({"readlink", workspace / "link"}).out, "real\n");
}

KERNEL_TEST(EscapeGuardsNamed, HooksDirectoryOfTheUsersSettings) {
  const Workspace workspace;
  write_file(workspace.around() / ".gitconfig", "[core]\n\thooksPath = githooks\n");
  make_directories(workspace / "githooks");
  ASSERT_EQ(run_bare({"git", "init", "-q", workspace.path()}).exit_code, 0);
  const RunOptions options = workspace.options();  // the home is the parent directory
  const Arguments attack{"sh", "-c",
                         "echo evil > githooks/pre-commit; mkdir -p new/.git new/githooks; echo "
                         "evil > new/githooks/pre-commit"};
  workspace.run(attack, {}, options);
  EXPECT_FALSE(exists(workspace / "githooks/pre-commit"));
  EXPECT_FALSE(exists(workspace / "new/githooks"));
  workspace.run(attack, {"--allow-guarded", ".git/hooks"}, options);
  EXPECT_TRUE(exists(workspace / "githooks/pre-commit"));  // control
}

// The workspace, or a granted tree, is a part of the user's repository.
KERNEL_TEST(EscapeGuardsNamed, HooksAndSettingsOfTheRepositoryAroundTheWorkspace) {
  const Workspace workspace;
  const std::string top = workspace.around() / "";
  git(top, {"init", "-q"});
  const std::string name = workspace.path().substr(workspace.path().rfind('/') + 1);
  make_directories(workspace / "githooks");
  write_file(workspace / "githooks/pre-commit", "#!/bin/sh\n");
  write_file(workspace / "settings", "[user]\n");
  const std::string attack = "echo evil > githooks/pre-commit; echo evil > settings";
  run_script(workspace, attack);
  EXPECT_EQ(read_file(workspace / "githooks/pre-commit"), "evil\n");  // control: nothing names them
  EXPECT_EQ(read_file(workspace / "settings"), "evil\n");
  git(top, {"config", "core.hooksPath", name + "/githooks"});
  git(top, {"config", "include.path", "../" + name + "/settings"});
  write_file(workspace / "githooks/pre-commit", "#!/bin/sh\n");
  write_file(workspace / "settings", "[user]\n");
  run_script(workspace, attack);
  EXPECT_EQ(read_file(workspace / "githooks/pre-commit"), "#!/bin/sh\n");
  EXPECT_EQ(read_file(workspace / "settings"), "[user]\n");
  const Workspace other;
  const std::string path = workspace.path();
  other.run({"sh", "-c", "cd " + path + " && { " + attack + "; }"}, {"--rw", path});
  EXPECT_EQ(read_file(workspace / "githooks/pre-commit"), "#!/bin/sh\n");
  EXPECT_EQ(read_file(workspace / "settings"), "[user]\n");
}

// An earlier run has made the settings unreadable that name the hooks. Root reads them all the same.
KERNEL_TEST(EscapeGuardsNamed, HooksThatSettingsMadeUnreadableName) {
  const Workspace workspace;
  git(workspace.path(), {"init", "-q"});
  git(workspace.path(), {"config", "include.path", "../conf/settings"});
  make_directories(workspace / "conf");
  make_directories(workspace / "githooks");
  write_file(workspace / "conf/settings", "[user]\n");
  const std::string hook = workspace / "githooks/pre-commit";
  const auto attack = [&] {
    write_file(hook, "#!/bin/sh\n");
    return workspace.run({"sh", "-c", "chmod 755 conf; echo evil > githooks/pre-commit"});
  };
  attack();
  EXPECT_EQ(read_file(hook), "evil\n");  // control: the file names nothing
  write_file(workspace / "conf/settings", "[core]\n\thooksPath = githooks\n");
  for (const std::string locked : {"conf", "conf/settings"}) {
    EXPECT_EQ(run_bare({"chmod", "000", workspace / locked}).exit_code, 0);
    const Ran ran = attack();
    EXPECT_EQ(run_bare({"chmod", "755", workspace / locked}).exit_code, 0);
    EXPECT_EQ(read_file(hook), "#!/bin/sh\n") << locked;
    if (is_root()) continue;
    EXPECT_EQ(ran.exit_code, 125) << ran.err;
    EXPECT_NE(ran.err.find("conf/settings"), std::string::npos) << ran.err;
  }
}

// Nested repositories with hundreds of includes must not use up what is followed for the user's.
KERNEL_TEST(EscapeGuardsNamed, IncludesOfOtherRepositoriesAreNotCounted) {
  const Workspace workspace;
  git(workspace.path(), {"init", "-q"});
  git(workspace.path(), {"config", "include.path", "../zz/settings"});
  make_directories(workspace / "zz");
  write_file(workspace / "zz/settings", "[user]\n");
  const auto nested = [&](int includes) {
    std::string text = "[include]\n";
    for (int count = 0; count < includes; ++count)
      text += "path = /nonexistent/" + std::to_string(count) + "\n";
    for (const std::string bare : {"a.git", "zzz.git"}) {
      make_directories(workspace / (bare + "/objects"));
      make_directories(workspace / (bare + "/refs"));
      write_file(workspace / (bare + "/HEAD"), "ref: refs/heads/main\n");
      write_file(workspace / (bare + "/config"), text);
    }
  };
  nested(200);
  expect_guarded(workspace, {"write", "zz/settings", "evil"}, ".git/config", {EROFS});
  nested(300);
  const Ran ran = workspace.run({"true"});
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_NE(ran.err.find(".git/config"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace coop::tests
