// Repositories, rebases and cherry-picks that a sandbox leaves behind, and the host's git that is then used in them. Every
// control is the same with the guard switched off: there git runs the sandbox's program on the host.
#include <nlohmann/json.hpp>
#include "escape/guarded.h"
#include "kernel/support.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

constexpr const char* kGit =
    "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true "
    "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";

void host_git(const Workspace& workspace, const std::string& script) {
  run_bare({"sh", "-c", kGit + script}, {.directory = workspace.path()});
}

// A script of the workspace that git would run on the host, there or one directory below.
constexpr const char* kProgram =
    "printf '#!/bin/sh\\ntouch ran ../ran\\nexit 1\\n' > evil; chmod +x evil; ";

// `attack` inside, then `use` on the host: whether the program ran there.
bool runs_on_the_host(const std::string& prepare, const std::string& attack, const std::string& use,
                      const Arguments& flags = {}) {
  const Workspace workspace;
  host_git(workspace, prepare);
  const Ran ran = workspace.run({"sh", "-c", kGit + attack}, flags);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  host_git(workspace, use);
  return exists(workspace / "ran") || exists(workspace / "git-merge-x/ran");
}

void expect_harmless(const std::string& prepare, const std::string& attack, const std::string& use,
                     const std::string& guard) {
  EXPECT_FALSE(runs_on_the_host(prepare, attack, use)) << attack;
  EXPECT_FALSE(runs_on_the_host(prepare, attack, use, {"--view", "host"})) << attack;
  EXPECT_TRUE(runs_on_the_host(prepare, attack, use, {"--allow-guarded", guard})) << attack;
}

constexpr const char* kCommitted = "git init -q .; echo a > f; git add f; git commit -qm a; ";

KERNEL_TEST(EscapeNewRepository, ProgramInItsSettings) {
  expect_harmless(
      ":", std::string(kProgram) + "git init -q new; git -C new config core.fsmonitor '../evil'",
      "cd new; git status", ".git/config");
}

KERNEL_TEST(EscapeNewRepository, ProgramInItsHooks) {
  expect_harmless(
      ":", std::string(kProgram) + "git init -q new; ln -s ../../../evil new/.git/hooks/pre-commit",
      "cd new; git commit --allow-empty -m x", ".git/hooks");
}

KERNEL_TEST(EscapeNewRepository, ProgramInItsSettingsForOneWorktree) {
  expect_harmless(":",
                  std::string(kProgram) +
                      "git init -q new; cd new; git config extensions.worktreeConfig true; "
                      "git config --worktree core.fsmonitor ../evil",
                  "cd new; git status", ".git/config.worktree");
}

KERNEL_TEST(EscapeNewRepository, SettingsChangedByALaterCall) {
  // What stayed after the first call is judged after the second as if it were new.
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"git", "init", "-q", "new"}).exit_code, 0);
  const std::string settings = read_file(workspace / "new/.git/config");
  ASSERT_NE(settings, "");
  const std::string attack = "printf '[core]\\nfsmonitor = evil\\n' >> new/.git/config";
  nlohmann::json output = run_script(workspace, attack);
  EXPECT_NE(entry_for(output, workspace / "new/.git/config").value("problem", "").find("fsmonitor"),
            std::string::npos)
      << output.dump();
  EXPECT_EQ(read_file(workspace / "new/.git/config"), settings);
  output = run_script(workspace, "cp /bin/true new/.git/hooks/pre-commit; mv new other");
  EXPECT_FALSE(exists(workspace / "other/.git/hooks/pre-commit")) << output.dump();
  EXPECT_EQ(read_file(workspace / "other/.git/config"), settings);
  EXPECT_EQ(workspace
                .run({"sh", "-c", "printf '[core]\\nfsmonitor = evil\\n' >> other/.git/config"},
                     {"--allow-guarded", ".git/config"})
                .exit_code,
            0);
  EXPECT_NE(read_file(workspace / "other/.git/config").find("fsmonitor"), std::string::npos);
  // What was allowed is the user's: guarded now, and not taken away.
  EXPECT_NE(workspace.run({"sh", "-c", "echo >> other/.git/config"}).exit_code, 0);
  EXPECT_NE(read_file(workspace / "other/.git/config").find("fsmonitor"), std::string::npos);
}

KERNEL_TEST(EscapeNewRepository, WhatTheUserMadeOrChangedIsGuardedAtAllTimes) {
  const Workspace workspace;
  host_git(workspace, "git init -q user; git init -q .");
  EXPECT_EQ(workspace.run({"sh", "-c", "git init -q made; git init -q adopted"}).exit_code, 0);
  host_git(workspace, "printf '#!/bin/sh\\n' > adopted/.git/hooks/pre-commit");
  const auto writes = [&](const std::string& path) {
    return workspace.run({"sh", "-c", "echo '#' >> " + path}).exit_code == 0;
  };
  for (const char* const users :
       {".git/config", "user/.git/config", "adopted/.git/config", "adopted/.git/hooks/pre-commit"})
    EXPECT_FALSE(writes(users)) << users;
  EXPECT_TRUE(exists(workspace / "adopted/.git/hooks/pre-commit"));
  for (const char* const users : {"user", "adopted"}) {
    const std::string name(users);
    EXPECT_NE(workspace.run({"sh", "-c", "mv " + name + " away"}).exit_code, 0);
    EXPECT_NE(workspace.run({"sh", "-c", "rm -rf " + name}).exit_code, 0);
    EXPECT_NE(read_file(workspace / (name + "/.git/config")), "");
  }
  EXPECT_TRUE(writes("made/.git/config"));  // control
  EXPECT_EQ(workspace.run({"sh", "-c", "mv made away; rm -rf away"}).exit_code, 0);
}

// With the state directory in the workspace, as when that is the home.
KERNEL_TEST(EscapeNewRepository, TheRecordIsOutOfReach) {
  const Workspace workspace;
  RunOptions options = workspace.options();
  options.environment["XDG_STATE_HOME"] = workspace / "state";
  const auto run = [&](const std::string& script) {
    return workspace.run({"sh", "-c", script}, {}, options);
  };
  EXPECT_EQ(run("git init -q new; echo x > state/control").exit_code, 0);
  EXPECT_TRUE(exists(workspace / "state/control"));
  const std::string record = read_file(workspace / "state/coop/made_inside");
  EXPECT_NE(record, "");
  EXPECT_NE(run("echo x >> state/coop/made_inside").exit_code, 0);
  EXPECT_NE(run("rm state/coop/made_inside").exit_code, 0);
  EXPECT_NE(run("mv state/coop away").exit_code, 0);
  EXPECT_NE(run("mv state away").exit_code, 0);
  EXPECT_EQ(run("cat state/coop/made_inside").out, "");
  EXPECT_TRUE(exists(workspace / "state/coop/made_inside"));
}

KERNEL_TEST(EscapeNewRepository, TheAgentIsToldWhichSettingIsTheReason) {
  const Workspace workspace;
  const nlohmann::json output =
      run_script(workspace, "git init -q new; git -C new config core.pager evil");
  const nlohmann::json entry = entry_for(output, workspace / "new/.git/config");
  EXPECT_NE(entry.value("problem", "").find("core.pager"), std::string::npos) << output.dump();
  EXPECT_TRUE(exists(workspace / "new/.git/hooks"));
}

// A rebase with a conflict, and one commit to go.
constexpr const char* kConflict =
    "git init -q -b main .; echo a > f; git add f; git commit -qm a; git checkout -qb topic; "
    "echo b > f; git commit -qam b; echo c > g; git add g; git commit -qm c; git checkout -q main; "
    "echo d > f; git commit -qam d; ";

KERNEL_TEST(EscapeRebase, ExecLineForTheUser) {
  expect_harmless(
      std::string(kConflict) + "git checkout -q topic; git rebase main",
      std::string(kProgram) + "sed -i '1i exec ./evil' .git/rebase-merge/git-rebase-todo",
      "echo e > f; git add f; git rebase --continue", ".git/rebase-merge/git-rebase-todo");
}

KERNEL_TEST(EscapeRebase, ExecLineInARebaseOfItsOwn) {
  expect_harmless(std::string(kConflict) + "git checkout -q topic",
                  std::string(kProgram) + "git rebase -x ./evil main || true",
                  "echo e > f; git add f; git rebase --continue",
                  ".git/rebase-merge/git-rebase-todo");
}

constexpr const char* kStrategyProgram =
    "mkdir git-merge-x; printf '#!/bin/sh\\ntouch git-merge-x/ran\\n' > git-merge-x/evil; "
    "chmod +x git-merge-x/evil; ";

KERNEL_TEST(EscapeRebase, StrategyThatIsAProgram) {
  expect_harmless(std::string(kConflict) + "git checkout -q topic; git rebase main",
                  std::string(kStrategyProgram) + "echo x/evil > .git/rebase-merge/strategy",
                  "echo e > f; git add f; git rebase --continue", ".git/rebase-merge/strategy");
}

KERNEL_TEST(EscapeRebase, StrategyOfACherryPick) {
  expect_harmless(
      std::string(kConflict) + "git cherry-pick -x topic~1 topic",
      std::string(kStrategyProgram) +
          "printf '[options]\\n\\tstrategy = x/evil\\n' > .git/sequencer/opts",
      "git checkout -qf HEAD -- f; git commit -qm z --allow-empty; git cherry-pick --continue",
      ".git/sequencer/opts");
}

// As git's own prompt is used with PROMPT_COMMAND. The file of the distribution, where it is installed.
constexpr const char* kPrompt =
    "cat > prompt.bash <<'END'\n"
    "for f in /usr/lib/git-core/git-sh-prompt /usr/share/git/git-prompt.sh"
    " /usr/share/git-core/contrib/completion/git-prompt.sh; do [ -e $f ] && . $f; done\n"
    "__git_ps1 a b; : \"${PS1@P}\"\n"
    "END\n"
    "bash prompt.bash";

KERNEL_TEST(EscapeRebase, ProgramInThePrompt) {
  if (run_bare({"sh", "-c", "ls /usr/lib/git-core/git-sh-prompt"}).exit_code != 0)
    GTEST_SKIP() << "git's prompt is not installed";
  for (const char* const name : {"msgnum", "end"})
    expect_harmless(kCommitted,
                    "mkdir .git/rebase-merge; cd .git/rebase-merge; echo 1 > msgnum; echo 2 > end; "
                    "echo x > head-name; echo '$(touch ran)' > " +
                        std::string(name),
                    kPrompt, std::string(".git/rebase-merge/") + name);
  for (const char* const name : {"next", "last"})
    expect_harmless(kCommitted,
                    "mkdir .git/rebase-apply; cd .git/rebase-apply; echo 1 > next; echo 2 > last; "
                    "echo '$(touch ran)' > " +
                        std::string(name),
                    kPrompt, std::string(".git/rebase-apply/") + name);
}

// git keeps names out of PS1 itself.
KERNEL_TEST(EscapeRebase, NamesInThePromptRunNothing) {
  EXPECT_FALSE(runs_on_the_host(kCommitted,
                                "mkdir .git/rebase-merge; cd .git/rebase-merge; echo 1 > msgnum; "
                                "echo 2 > end; echo '$(touch ran)' > head-name; "
                                "echo '$(touch ran)' > onto_name",
                                kPrompt));
  EXPECT_FALSE(runs_on_the_host(kCommitted, "echo 'ref: refs/heads/$(touch${IFS}ran)' > .git/HEAD",
                                kPrompt));
}

// git checks neither the names in MERGE_RR nor where they lead, and rr-cache alone switches that on.
KERNEL_TEST(EscapeRebase, FilesThatTheNextCommitWrites) {
  expect_harmless(
      std::string(kCommitted) +
          "mkdir -p .git/info; echo '* merge=union' > .git/info/attributes; "
          "printf '#!/bin/sh\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit",
      "i=1111111111111111111111111111111111111111; mkdir -p .git/rr-cache/$i; "
      ": > .git/rr-cache/$i/preimage; echo 'touch ran' > .git/rr-cache/$i/postimage; "
      "printf '%s.-1\\t.git/hooks/post-commit\\0' $i > .git/MERGE_RR",
      "echo b >> f; git commit -qam b; git commit -q --allow-empty -m c", ".git/MERGE_RR");
}

KERNEL_TEST(EscapeRebase, ChangesThatTheNextCommitApplies) {
  // What the name stands for is a commit with another hook.
  const std::string attack =
      "export GIT_INDEX_FILE=/tmp/index; git read-tree HEAD; "
      "b=$(printf '#!/bin/sh\\ntouch ran\\n' | git hash-object -w --stdin); "
      "i=$(git commit-tree -p HEAD -m i $(git write-tree)); "
      "git update-index --add --cacheinfo 100755,$b,.husky/pre-commit; "
      "w=$(git commit-tree -p HEAD -p $i -m w $(git write-tree)); ";
  const std::string prepare = std::string(kCommitted) +
                              "mkdir .husky; printf '#!/bin/sh\\n' > .husky/pre-commit; "
                              "chmod +x .husky/pre-commit; git config core.hooksPath .husky; "
                              "git add -A; git commit -qm h";
  expect_harmless(prepare, attack + "echo $w > .git/MERGE_AUTOSTASH",
                  "echo b >> f; git commit -qm b f; echo c >> f; git commit -qm c f",
                  ".git/MERGE_AUTOSTASH");
}

KERNEL_TEST(EscapeRebase, FileThatContinuingAPatchWrites) {
  // "ran" is the file that the option names.
  expect_harmless(std::string(kConflict) + "git format-patch -2 --stdout topic > p; git am p",
                  "echo \" '--build-fake-ancestor=ran'\" > .git/rebase-apply/apply-opt",
                  "git am --skip", ".git/rebase-apply/apply-opt");
}

// git reads an index without a look at its paths. The checksum at the end is not verified either.
constexpr const char* kIndexedHook =
    "mkdir -p xgit/hooks; printf '#!/bin/sh\ntouch ran ../ran\n' > xgit/hooks/post-checkout; "
    "chmod +x xgit/hooks/post-checkout; git add xgit; rm -r xgit; ";
constexpr const char* kPoison = "LC_ALL=C sed -i 's|xgit/hooks|.git/hooks|' ";

KERNEL_TEST(EscapeIndex, HookThatACheckoutWrites) {
  for (const char* const version : {"2", "4"})
    expect_harmless(kCommitted,
                    "git update-index --index-version " + std::string(version) + "; " +
                        kIndexedHook + kPoison + ".git/index",
                    "git checkout .; git checkout .", ".git/index");
}

KERNEL_TEST(EscapeIndex, HookInARepositoryOfItsOwn) {
  expect_harmless(":",
                  "git init -q new; cd new; git commit -qm a --allow-empty; " +
                      std::string(kIndexedHook) + kPoison + ".git/index",
                  "cd new; git checkout .; git checkout .", ".git/index");
}

KERNEL_TEST(EscapeIndex, HookInTheIndexOfAWorktree) {
  expect_harmless(std::string(kCommitted) + "git worktree add -q tree",
                  "export GIT_DIR=$PWD/.git/worktrees/tree GIT_WORK_TREE=$PWD; mkdir xx; cd xx; " +
                      std::string(kIndexedHook) +
                      "cd ..; LC_ALL=C sed -i 's|xx/xgit|../.git|' .git/worktrees/tree/index",
                  "cd tree; git checkout .; git checkout .", ".git/index");
}

KERNEL_TEST(EscapeIndex, HookInTheSharedPartOfASplitIndex) {
  expect_harmless(kCommitted,
                  std::string(kIndexedHook) + "git update-index --split-index; " + kPoison +
                      ".git/sharedindex.*",
                  "git checkout .; git checkout .", ".git/index");
}

KERNEL_TEST(EscapeIndex, AnEarlierVersionIsPutBackAndAGoodOneStays) {
  const Workspace workspace;
  host_git(workspace, kCommitted);
  const auto run = [&](const std::string& script) {
    return json_of(workspace.run({"sh", "-c", kGit + script}, {"--json"}));
  };
  const nlohmann::json good = run("echo b > g; git add g");
  EXPECT_TRUE(entry_for(good, workspace / ".git/index").is_null()) << good.dump();
  const std::string settled = read_file(workspace / ".git/index");
  EXPECT_NE(settled, "");
  const nlohmann::json bad = run(std::string(kIndexedHook) + kPoison + ".git/index");
  const nlohmann::json entry = entry_for(bad, workspace / ".git/index");
  ASSERT_TRUE(entry.is_object()) << bad.dump();
  EXPECT_TRUE(entry.value("problem", "").contains(".git/hooks")) << bad.dump();
  EXPECT_EQ(read_file(workspace / ".git/index"), settled) << bad.dump();
}

// `git worktree repair` on the host writes a .git file where the file "gitdir" of a worktree says. Each script is a run.
bool repair_writes_elsewhere(const std::string& prepare, const Arguments& scripts,
                             const Arguments& flags) {
  const Workspace workspace{visible_place()};
  const std::string victim = workspace.around() / "victim";
  host_git(workspace, "mkdir ../victim; " + std::string(kCommitted) + prepare);
  const std::string paths = "victim=" + victim + "; top=" + workspace.path() + "; ";
  for (const std::string& script : scripts) {
    const Ran ran = workspace.run({"sh", "-c", kGit + paths + script}, flags);
    EXPECT_EQ(ran.exit_code, 0) << script << ran.err;
  }
  host_git(workspace, "git worktree repair");
  return exists(victim + "/.git");
}

void expect_no_file_elsewhere(const std::string& prepare, const Arguments& scripts) {
  for (const char* const view : {"minimal", "host"}) {
    Arguments flags{"--view", view};
    EXPECT_FALSE(repair_writes_elsewhere(prepare, scripts, flags)) << view << scripts.back();
    flags.insert(flags.end(), {"--allow-guarded", ".git/gitdir", "--allow-guarded", ".git"});
    EXPECT_TRUE(repair_writes_elsewhere(prepare, scripts, flags)) << view << scripts.back();
  }
}

void expect_worktrees_lead_nowhere() {
  const std::string add = "git worktree add -q tree; ";
  const std::string lead_away = "echo $victim/.git > .git/worktrees/tree/gitdir";
  expect_no_file_elsewhere(":", {add + lead_away});
  expect_no_file_elsewhere(add, {lead_away});
  // The text stays as it was; a directory on its way becomes a symlink in a later run.
  expect_no_file_elsewhere(":", {add + "echo $top/tree/.git > .git/worktrees/tree/gitdir",
                                 "rm -rf tree; ln -s $victim tree"});
  for (const char* const view : {"minimal", "host"}) {
    const Workspace workspace{visible_place()};
    host_git(workspace, std::string(kCommitted) + add + "git worktree add -q ../outer");
    const std::string inner = read_file(workspace / ".git/worktrees/tree/gitdir");
    const std::string outer = read_file(workspace / ".git/worktrees/outer/gitdir");
    const nlohmann::json output =
        run_script(workspace, "echo /srv/.git > .git/worktrees/tree/gitdir", {"--view", view});
    EXPECT_TRUE(entry_for(output, workspace / ".git/worktrees/tree/gitdir").is_object());
    EXPECT_EQ(read_file(workspace / ".git/worktrees/tree/gitdir"), inner);
    EXPECT_EQ(read_file(workspace / ".git/worktrees/outer/gitdir"), outer);
  }
}

KERNEL_TEST(EscapeWorktree, RepairWritesNoFileElsewhere) { expect_worktrees_lead_nowhere(); }

KERNEL_TEST(EscapeWorktreeServed, RepairWritesNoFileElsewhere) { expect_worktrees_lead_nowhere(); }

KERNEL_TEST(EscapeWorktreeServed, AWorktreeThatTheHostMakesMeanwhileStays) {
  const Workspace workspace{visible_place()};
  host_git(workspace, kCommitted);
  Process run({COOP_BINARY, "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
               "touch ready; while [ ! -e stop ]; do sleep 0.1; done"},
              workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  host_git(workspace, "git worktree add -q ../outer; touch stop");
  const nlohmann::json output = json_of(run.finish());
  EXPECT_EQ(read_file(workspace / ".git/worktrees/outer/gitdir"),
            workspace.around() / "outer/.git\n")
      << output.dump();
}

// git uses the settings of a bare repository for its worktrees, with or without a HEAD.
KERNEL_TEST(EscapeNewRepository, HooksOfABareRepositoryWithoutItsHead) {
  const std::string prepare = std::string(kCommitted) +
                              "git clone -q --bare . bare.git; rm -rf .git f bare.git/hooks; "
                              "git -C bare.git worktree add -q ../tree";
  const std::string attack =
      "mkdir bare.git/hooks; printf '#!/bin/sh\ntouch ../ran\n' > bare.git/hooks/post-checkout; "
      "chmod +x bare.git/hooks/post-checkout; rm bare.git/HEAD";
  expect_harmless(prepare, attack, "cd tree; git checkout .", ".git/hooks");
}

// git-lfs makes objects/ab/cd/NAME below it.
KERNEL_TEST(EscapeNewRepository, SymlinksWhereLargeFilesAreKept) {
  for (const char* const link :
       {"lfs/objects/ab", "lfs/objects/ab/cd", "lfs/tmp/x/y", "lfs/cache/locks/refs"}) {
    const Workspace workspace;
    host_git(workspace, std::string(kCommitted) + "mkdir .git/lfs");
    const std::string path = std::string(".git/") + link;
    const std::string script =
        "mkdir -p $(dirname " + path + ") .git/lfs/objects/ef/01; ln -s /tmp " + path;
    const auto leaves_link = [&](const Arguments& flags) {
      EXPECT_EQ(workspace.run({"sh", "-c", script}, flags).exit_code, 0) << link;
      return run_bare({"test", "-L", workspace / path}).exit_code == 0;
    };
    EXPECT_FALSE(leaves_link({})) << link;
    EXPECT_TRUE(exists(workspace / ".git/lfs/objects/ef/01")) << link;  // control
    EXPECT_TRUE(leaves_link({"--allow-guarded", ".git"})) << link;
  }
}

// Where a path is too long for a call the sandbox can still have made a link that leads out.
KERNEL_TEST(EscapeWorktree, RepairWritesNoFileBehindAPathThatIsTooLong) {
  const Workspace workspace;
  host_git(workspace, kCommitted);
  make_directories(workspace.around() / "target");
  const std::string attack =
      "d=deep; for i in $(seq 20); do d=$d/$(printf '%0200d' $i); done; mkdir -p $d; ln -s $d l; "
      "ln -s " +
      (workspace.around() / "target") +
      " l/x; mkdir -p .git/worktrees/evil; "
      "echo ../.. > .git/worktrees/evil/commondir; echo ref: refs/heads/x > "
      ".git/worktrees/evil/HEAD; "
      "echo " +
      workspace.path() + "/l/x/.git > .git/worktrees/evil/gitdir";
  const nlohmann::json output = run_script(workspace, attack);
  EXPECT_FALSE(exists(workspace / ".git/worktrees/evil/gitdir")) << output.dump();
}

// The user moves the checkout, and a symlink takes its place: the file says what it said.
KERNEL_TEST(EscapeWorktree, ACheckoutThatTheUserMovesMeanwhile) {
  const Workspace workspace{visible_place()};
  host_git(workspace, std::string(kCommitted) + "git worktree add -q ../outer");
  Process run({COOP_BINARY, "run", "--json", "-w", workspace.path(), "--", "sh", "-c",
               "touch ready; while [ ! -e stop ]; do sleep 0.1; done"},
              workspace.options());
  ASSERT_TRUE(eventually([&] { return exists(workspace / "ready"); }));
  host_git(workspace, "mv ../outer ../real; ln -s real ../outer; touch stop");
  const nlohmann::json output = json_of(run.finish());
  EXPECT_TRUE(exists(workspace / ".git/worktrees/outer/gitdir")) << output.dump();
}

}  // namespace
}  // namespace coop::tests
