// Git directories that the supervisor serves: names decide at each call, whatever the host's git does meanwhile.
// The ordinary user runs these with a /dev/fuse that can be opened; the other suites also run without one.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "escape/guarded.h"
#include "kernel/support.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

Ran git(const std::string& directory, const std::string& command) {
  return run_bare({"sh", "-c", "cd '" + directory + "' && git " + command});
}

void make_repository(const Workspace& workspace) {
  ASSERT_EQ(git(workspace.path(),
                "init -q . && git config user.name t && git config user.email t@t && echo 1 > f && "
                "git add f "
                "&& git commit -qm one")
                .exit_code,
            0);
}

bool is_served(const Workspace& workspace) {
  return workspace.run({"cat", "/proc/self/mountinfo"}).out.contains(" /work/.git rw") &&
         workspace.run({"grep", "-e", "- fuse", "/proc/self/mountinfo"}).exit_code == 0;
}

KERNEL_TEST(EscapeServed, IsServedAtAll) {
  const Workspace workspace;
  make_repository(workspace);
  EXPECT_TRUE(is_served(workspace)) << run_bare({"ls", "-l", "/dev/fuse"}).out;
}

// The host's git replaces its configuration by rename, again and again, and the sandbox writes whatever it can.
KERNEL_TEST(EscapeServed, WritingWhileTheHostReplacesTheConfiguration) {
  const Workspace workspace;
  make_repository(workspace);
  Process attack(
      {COOP_BINARY, "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
       "touch ready; while [ ! -e stop ]; do for f in config config.lock hooks/pre-commit "
       "commondir; do "
       "echo '[evil]' >> .git/$f; done 2>/dev/null; echo x >> .git/description; done; true"},
      workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  for (int round = 0; round < 40; ++round) {
    ASSERT_EQ(git(workspace.path(), "config test.round " + std::to_string(round)).exit_code, 0);
    ASSERT_EQ(
        git(workspace.path(), "remote add r" + std::to_string(round) + " https://example.com/x")
            .exit_code,
        0);
  }
  write_file(workspace / ".git/hooks/post-commit", "the user's\n");
  write_file(workspace / "stop", "");
  const nlohmann::json output = json_of(attack.finish());
  const std::string config = read_file(workspace / ".git/config");
  EXPECT_FALSE(config.contains("evil")) << config;
  EXPECT_TRUE(config.contains("round = 39") && config.contains("\"r39\"")) << config;
  EXPECT_FALSE(exists(workspace / ".git/config.lock"));
  EXPECT_FALSE(exists(workspace / ".git/commondir"));
  EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit"));
  // What the user made meanwhile stays.
  EXPECT_EQ(read_file(workspace / ".git/hooks/post-commit"), "the user's\n");
  EXPECT_TRUE(output.value("quarantined", nlohmann::json::array()).empty()) << output.dump();
  EXPECT_TRUE(read_file(workspace / ".git/description").contains("x\n"));  // control
}

// `sed -i` and editors write a temporary file beside the one that they replace, under a name that no rule knows.
KERNEL_TEST(EscapeServed, ATemporaryFileOfTheHostThatTheSandboxWroteIsNotObeyed) {
  const Workspace workspace;
  make_repository(workspace);
  write_file(workspace / ".git/info/attributes", "*.bin -text\n");
  const std::string before = read_file(workspace / ".git/config");
  Process attack({COOP_BINARY, "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
                  "touch ready; cd .git; until [ -e new-hooks/x -a -e sedXXXX ]; do sleep 0.01; "
                  "done; echo '[core] pager = evil' >> sedXXXX; echo evil > new-hooks/pre-commit; "
                  "echo evil > sedYYYY; touch ../written; until [ -e ../stop ]; do sleep 0.01; "
                  "done; true"},
                 workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  const auto host = [&](const std::string& script) {
    const Ran ran =
        run_bare({"sh", "-ec", "cd '" + workspace.path() + "/.git'; " + script}, RunOptions{});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  };
  host("cp config sedXXXX; mkdir new-hooks; touch new-hooks/x");
  ASSERT_TRUE(eventually([&] { return exists(workspace / "written"); }));
  // The last is the control: nothing in it was written inside.
  host(
      "mv hooks old-hooks; mv new-hooks hooks; mv sedXXXX config; mv sedYYYY config.worktree; "
      "echo '*.x -text' > sedZZZZ; mv sedZZZZ info/attributes");
  ASSERT_TRUE(read_file(workspace / ".git/config").contains("evil"));
  write_file(workspace / "stop", "");
  const nlohmann::json output = json_of(attack.finish());
  EXPECT_EQ(read_file(workspace / ".git/config"), before) << output.dump();
  EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit")) << output.dump();
  EXPECT_FALSE(exists(workspace / ".git/config.worktree")) << output.dump();
  EXPECT_EQ(read_file(workspace / ".git/info/attributes"), "*.x -text\n") << output.dump();
}

// Each line changes a guarded name, or makes one, in some way; `ok` lines are the same with another name.
KERNEL_TEST(EscapeServed, EveryWayToAGuardedName) {
  const Workspace workspace;
  make_repository(workspace);
  make_directories(workspace / ".git/modules/sub/hooks");
  for (const char* name : {"objects", "refs"})
    make_directories(workspace / (std::string(".git/modules/sub/") + name));
  write_file(workspace / ".git/modules/sub/HEAD", "ref: refs/heads/main\n");
  write_file(workspace / ".git/modules/sub/config", "[core]\n");
  const Arguments refused{
      "echo x > .git/config",
      "echo x > .git/config.lock",
      "set -C; echo x > .git/config.lock; mv .git/config.lock .git/config",
      "set -C; echo x > .git/config.lock; mv .git/config.lock .git/t",
      "echo x > .git/CONFIG",
      "echo x > .git/config.worktree",
      "echo x > .git/commondir",
      "mkdir .git/hooks/sub",
      "rm .git/config",
      "rm -r .git/hooks",
      "mv .git/config .git/c",
      "mv .git/hooks .git/h",
      "cp f .git/t && mv .git/t .git/config",
      "cp f .git/t && ln .git/t .git/config.worktree",
      "ln .git/config .git/c",
      "ln -s ../f .git/config.worktree",
      "ln -s /etc/passwd .git/COMMIT_EDITMSG2",
      "ln -s ../../f .git/COMMIT_EDITMSG2",
      "chmod 777 .git/config",
      "touch -d yesterday .git/config",
      "truncate -s 0 .git/config",
      "echo x > .git/info/attributes",
      "mv .git/info .git/i",
      "rm -rf .git/info; mkdir .git/new && echo x > .git/new/attributes && mv .git/new .git/info",
      "echo x > .git/modules/sub/config",
      "echo x > .git/modules/sub/hooks/post-checkout",
      "mv .git/modules .git/m && echo x > .git/m/sub/config && mv .git/m .git/modules",
      "mv .git/modules/sub .git/s",
      "mv .git/modules/sub/hooks .git/h",
      "cp f .git/t && mv .git/t .git/modules/sub/config.lock",
      "ln -s sub .git/modules/other",
      "rm -f .git/modules/sub/HEAD; echo x > .git/modules/sub/config",
  };
  for (const std::string& attempt : refused) {
    const Ran ran = workspace.run({"sh", "-c", attempt});
    EXPECT_NE(ran.exit_code, 0) << attempt;
    EXPECT_TRUE(ran.err.contains("Read-only file system") ||
                ran.err.contains("Device or resource busy"))
        << attempt << ": " << ran.err;
  }
  EXPECT_FALSE(read_file(workspace / ".git/config").contains("x\n"));
  EXPECT_EQ(read_file(workspace / ".git/modules/sub/config"), "[core]\n");
  EXPECT_FALSE(exists(workspace / ".git/info/attributes"));
  for (const std::string control :
       {"echo x > .git/description", "mkdir .git/d && mv .git/d .git/e && rmdir .git/e",
        "cp f .git/t && mv .git/t .git/u", "ln .git/description .git/v",
        "chmod 600 .git/description", "truncate -s 0 .git/u",
        "mkdir -p .git/info && echo x > .git/info/exclude", "echo x > .git/modules/sub/index",
        "rm .git/u .git/v"}) {
    const Ran ran = workspace.run({"sh", "-c", control});
    EXPECT_EQ(ran.exit_code, 0) << control << ": " << ran.err;
  }
}

KERNEL_TEST(EscapeServed, AHardLinkOfTheHostLeadsNowhere) {
  const Workspace workspace;
  make_repository(workspace);
  ASSERT_EQ(run_bare({"ln", workspace / ".git/config", workspace / ".git/second"}).exit_code, 0);
  EXPECT_NE(workspace.run({"sh", "-c", "echo evil >> .git/second"}).exit_code, 0);
  EXPECT_FALSE(read_file(workspace / ".git/config").contains("evil"));
  EXPECT_EQ(workspace.run({"sh", "-c", "echo x >> .git/description"}).exit_code, 0);  // control
}

// What an attack found: paths that settings name, a link in place of info, a hidden repository, links in logs.
KERNEL_TEST(EscapeServed, NamesThatOnlyTheSettingsKnow) {
  const Workspace workspace;
  make_repository(workspace);
  make_directories(workspace / ".git/my");
  make_directories(workspace / ".git/logs/hk");
  ASSERT_EQ(
      git(workspace.path(), "config core.hooksPath .git/my && git config include.path extra.inc")
          .exit_code,
      0);
  for (const char* attempt :
       {"echo evil > .git/my/post-commit", "echo evil > .git/extra.inc", "mv .git/my .git/other",
        "mkdir .git/foo && echo x > .git/foo/attributes && rm -rf .git/info && ln -s foo .git/info",
        "ln -s /tmp/x .git/logs/HEAD2", "ln -s refs/x .git/COMMIT_EDITMSG2"}) {
    const Ran ran = workspace.run({"sh", "-c", attempt});
    EXPECT_TRUE(ran.err.contains("Read-only file system")) << attempt << ": " << ran.err;
  }
  EXPECT_FALSE(exists(workspace / ".git/my/post-commit"));
  EXPECT_FALSE(exists(workspace / ".git/extra.inc"));
  const nlohmann::json output =
      run_script(workspace,
                 "git init -q --bare .git/d2 && printf '[core]\\n\\tfsmonitor = evil\\n' >> "
                 ".git/d2/config; echo x > .git/fine");
  EXPECT_FALSE(read_file(workspace / ".git/d2/config").contains("evil")) << output.dump();
  EXPECT_TRUE(exists(workspace / ".git/fine"));  // control
}

// The user makes the repository anew during the run: that one is not served.
KERNEL_TEST(EscapeServed, AReplacedRepositoryIsJudgedAtTheEnd) {
  const Workspace workspace;
  make_repository(workspace);
  Process attack({COOP_BINARY, "run", "-w", workspace.path(), "--", "sh", "-c",
                  "touch ready; while [ ! -e stop ]; do sleep 0.01; done; mkdir -p .git/hooks; "
                  "echo evil > .git/hooks/pre-commit && "
                  "printf '[alias]\\n\\tx = !evil\\n' >> .git/config && touch wrote; true"},
                 workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  // Else it would make the new one read-only at once.
  attack.signal(SIGSTOP);
  ASSERT_EQ(run_bare({"rm", "-rf", workspace / ".git"}).exit_code, 0);
  ASSERT_EQ(git(workspace.path(), "init -q .").exit_code, 0);
  write_file(workspace / "stop", "");
  EXPECT_TRUE(eventually([&] { return exists(workspace / "wrote"); }));  // control
  EXPECT_TRUE(read_file(workspace / ".git/config").contains("evil"));
  attack.signal(SIGCONT);
  attack.finish();
  EXPECT_FALSE(exists(workspace / ".git/hooks/pre-commit"));
  EXPECT_FALSE(read_file(workspace / ".git/config").contains("evil"));
}

// The host's git writes through symlinks.
KERNEL_TEST(EscapeServed, NoSymlinkIsMadeThatGitWouldWriteThrough) {
  const Workspace workspace;
  make_repository(workspace);
  const std::string victim = workspace.around() / "victim";
  write_file(victim, "");
  const std::string make =
      "mkdir .git/objects/l; ln -s " + victim + " .git/objects/l/HEAD; ln -s " + victim +
      " .git/objects/evil; rm -f .git/COMMIT_EDITMSG; ln -s ./objects/evil .git/COMMIT_EDITMSG;"
      " mv .git/logs .git/ol; ln -s ./objects/l .git/logs; ln -s " +
      victim + " .git/refs/heads/other; true";
  EXPECT_EQ(workspace.run({"sh", "-c", make}).exit_code, 0);
  git(workspace.path(), "commit -q --allow-empty -m evil");
  EXPECT_EQ(read_file(victim), "");
  EXPECT_FALSE(exists(workspace / ".git/refs/heads/other"));
  // Control: the same on the host.
  run_bare({"sh", "-c", make}, {.directory = workspace.path()});
  git(workspace.path(), "commit -q --allow-empty -m evil");
  EXPECT_NE(read_file(victim), "");
}

// A second name of a served file, in the workspace.
KERNEL_TEST(EscapeServed, AHardLinkInTheWorkspaceIsNoWayIn) {
  const Workspace workspace;
  make_repository(workspace);
  write_file(workspace / ".git/hooks/pre-commit", "good\n");
  ASSERT_EQ(run_bare({"sh", "-c", "ln .git/config cfg && ln .git/hooks/pre-commit hook"},
                     {.directory = workspace.path()})
                .exit_code,
            0);
  const std::string before = read_file(workspace / ".git/config");
  const nlohmann::json output = run_script(
      workspace, "printf '[core]\\n\\tfsmonitor = ./evil\\n' > cfg; echo evil > hook; touch wrote");
  EXPECT_TRUE(exists(workspace / "wrote"));
  EXPECT_EQ(read_file(workspace / ".git/config"), before) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".git/hooks/pre-commit"), "good\n") << output.dump(2);
}

// The host runs what a symlink in a guarded directory leads to.
KERNEL_TEST(EscapeServed, WhatALinkedHookLeadsToIsReadOnly) {
  const Workspace workspace;
  make_repository(workspace);
  make_directories(workspace / "scripts");
  write_file(workspace / "scripts/pre-commit", "good\n");
  write_file(workspace / "scripts/other", "good\n");
  ASSERT_EQ(::symlink("../../scripts/pre-commit", (workspace / ".git/hooks/pre-commit").c_str()),
            0);
  workspace.run({"sh", "-c", "echo evil > scripts/pre-commit; echo new > scripts/other; true"});
  EXPECT_EQ(read_file(workspace / "scripts/pre-commit"), "good\n");
  EXPECT_EQ(read_file(workspace / "scripts/other"), "new\n");  // control
}

// The user replaces the git directory by a copy, which ends what serves it: it is read-only from then on.
KERNEL_TEST(EscapeServed, AReplacedDirectoryIsReadOnly) {
  const Workspace workspace;
  make_repository(workspace);
  Process attack({COOP_BINARY, "run", "-w", workspace.path(), "--", "sh", "-c",
                  "echo x >> .git/description; touch ready; while [ ! -e stop ]; do sleep 0.01; "
                  "done; (echo y >> .git/description) 2>/dev/null && touch wrote; "
                  "(printf '[alias]\\n\\tx = !evil\\n' >> .git/config) 2>/dev/null; git log -1 "
                  "> log"},
                 workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_EQ(run_bare({"sh", "-c", "cp -a .git x && rm -r .git && mv x .git"},
                     {.directory = workspace.path()})
                .exit_code,
            0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  write_file(workspace / "stop", "");
  const Ran ran = attack.finish();
  EXPECT_EQ(read_file(workspace / ".git/description").find("y\n"), std::string::npos) << ran.err;
  EXPECT_NE(read_file(workspace / ".git/description").find("x\n"), std::string::npos);
  EXPECT_FALSE(exists(workspace / "wrote"));
  EXPECT_FALSE(read_file(workspace / ".git/config").contains("evil"));
  EXPECT_TRUE(read_file(workspace / "log").contains("one")) << ran.err;
}

KERNEL_TEST(EscapeServed, EverydayGitWorks) {
  const Workspace workspace;
  make_repository(workspace);
  const Ran ran =
      workspace.run({"sh", "-ec",
                     "echo 2 >> f; git commit -qam two; git branch side; git checkout -q side; "
                     "echo 3 > g; git add g; git commit -qm three; "
                     "git checkout -q -; echo 4 > h; git add h; git commit -qm four; git rebase -q "
                     "side; git merge -q --no-edit side; "
                     "echo 5 >> f; git stash -q; git stash pop -q; git reset -q --hard; git tag "
                     "v1; git branch p; git reset -q --hard HEAD~1; git cherry-pick p "
                     ">/dev/null; git revert --no-edit HEAD >/dev/null; git gc -q; git rebase -q "
                     "-i HEAD~1; git bisect start >/dev/null; "
                     "git bisect reset 2>/dev/null; git rm -q g; git commit -qm gone; git fsck; "
                     "git status --porcelain"},
                    {"--env", "GIT_SEQUENCE_EDITOR=true"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  EXPECT_EQ(git(workspace.path(), "fsck --strict").exit_code, 0);
  EXPECT_EQ(git(workspace.path(), "log -1 --format=%s").out, "gone\n");
  EXPECT_EQ(git(workspace.path(), "status --porcelain -uno").out, "");
}

// Files that the user may not write, for the supervisor could.
KERNEL_TEST(EscapeServed, PermissionsAreThoseOfTheCaller) {
  if (!is_root())
    GTEST_SKIP() << "an ordinary user's supervisor has no more rights than the sandbox";
  const Workspace workspace;
  make_repository(workspace);
  write_file(workspace / ".git/foreign", "theirs\n");
  ASSERT_EQ(run_bare({"chown", "1:1", workspace / ".git/foreign"}).exit_code, 0);
  EXPECT_NE(workspace.run({"sh", "-c", "echo x >> .git/foreign"}).exit_code, 0);
  EXPECT_NE(workspace.run({"chown", "1:1", ".git/description"}).exit_code, 0);
  EXPECT_EQ(read_file(workspace / ".git/foreign"), "theirs\n");
  EXPECT_EQ(workspace.run({"cat", ".git/foreign"}).out, "theirs\n");  // control
}

KERNEL_TEST(EscapeServed, ARepositoryOfTheSandboxIsJudgedAtTheEnd) {
  const Workspace workspace;
  make_repository(workspace);
  const nlohmann::json output =
      run_script(workspace,
                 "mkdir -p .git/modules/new/objects .git/modules/new/refs .git/modules/new/hooks "
                 "&& cd .git/modules/new && "
                 "echo 'ref: refs/heads/main' > HEAD && printf '[core]\\n\\tfsmonitor = evil\\n' > "
                 "config && echo evil > "
                 "hooks/post-checkout && echo x > description");
  EXPECT_FALSE(read_file(workspace / ".git/modules/new/config").contains("evil")) << output.dump();
  EXPECT_FALSE(exists(workspace / ".git/modules/new/hooks/post-checkout")) << output.dump();
  EXPECT_TRUE(exists(workspace / ".git/modules/new/description")) << output.dump();  // control
}

}  // namespace
}  // namespace coop::tests
