// git must work inside: commits in plain repositories, linked worktrees and submodules.
#include <nlohmann/json.hpp>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

constexpr const char* kGit =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
    "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";

std::string git(const std::string& script) { return "set -e; " + std::string(kGit) + script; }

void must_host(const std::string& directory, const std::string& script) {
  const Ran ran = run_bare(shell(git(script)), {.directory = directory});
  ASSERT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
}

std::string host_log(const std::string& directory) {
  return run_bare(shell(git("git log --format=%s")), {.directory = directory}).out;
}

// Commits in a sandbox and checks from the host that the commit exists and the repository is valid.
void expect_commit(const Workspace& workspace, const std::string& where, const std::string& view) {
  const std::string script = git("cd " + where + "; echo " + view + " > file-" + view +
                                 "; git add .; git commit -qm 'inside " + view +
                                 "'; git status --short; git log -1 --format=%s");
  const Ran ran = workspace.run(shell(script), in_view(view));
  EXPECT_EQ(ran.exit_code, 0) << view << ": " << ran.err;
  EXPECT_EQ(ran.out, "inside " + view + "\n") << ran.err;
  EXPECT_EQ(ran.err, "") << view;
  EXPECT_THAT(host_log(workspace / where), HasSubstr("inside " + view + "\n"));
  must_host(workspace / where, "git fsck --no-progress --no-dangling; git diff --exit-code HEAD");
}

KERNEL_TEST(KernelGit, CommitInAPlainRepository) {
  const Workspace workspace;
  must_host(workspace.path(), "git init -q; git add .; git commit -qm first");
  for (const std::string& view : kViews) expect_commit(workspace, ".", view);
}

KERNEL_TEST(KernelGit, TheUsualCommandsWork) {
  const Workspace workspace;
  must_host(workspace.path(), "git init -q -b main; git add .; git commit -qm first");
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(
        shell(git("git checkout -q -b topic-" + view +
                  "; echo x > topic; git add topic; git commit -qm topic; git tag t-" + view +
                  "; git stash list; git checkout -q main; git merge -q --no-ff -m merge topic-" +
                  view +
                  "; git rebase -q HEAD~1; git gc -q; git reset -q --hard; git branch -D topic-" +
                  view + " >/dev/null; git worktree list | wc -l")),
        in_view(view));
    EXPECT_EQ(ran.exit_code, 0) << view << ran.err;
    EXPECT_EQ(ran.out, "1\n");
    must_host(workspace.path(), "git fsck --no-progress --no-dangling; git reset -q --hard HEAD~1");
  }
}

KERNEL_TEST(KernelGit, ANewRepositoryCanBeMadeAndIsUsableInTheSameRun) {
  const Workspace workspace;
  const Ran ran =
      workspace.run(shell(git("git init -q new; cd new; echo x > file; git add .; git commit -qm "
                              "first; git log --format=%s")));
  EXPECT_EQ(ran.out, "first\n") << ran.err;
}

KERNEL_TEST(KernelGit, WhatWasClonedIsUsableInLaterCalls) {
  for (const std::string& view : kViews) {
    const Workspace workspace{visible_place()};
    const auto call = [&](const std::string& script) {
      const Ran ran = workspace.run(shell(git(script)), in_view(view));
      EXPECT_EQ(ran.exit_code, 0) << view << ": " << script << "\n" << ran.err;
      EXPECT_EQ(ran.err, "") << view << ": " << script;
      return ran.out;
    };
    call(
        "git init -q --bare -b main remote.git; git init -q -b main new; cd new; echo x > file; "
        "git add .; git commit -qm first; git push -q ../remote.git main; "
        "git clone -q ../remote.git ../clone");
    call("cd clone; echo y > file; git commit -qam second; git push -q origin main; git fetch -q");
    call("cd new; git pull -q --ff-only ../remote.git main; git checkout -q -b topic");
    EXPECT_EQ(call("cd new; git log --format=%s"), "second\nfirst\n");
    EXPECT_EQ(call("cd clone; git config remote.origin.url | sed 's,.*/,,'"), "remote.git\n");
    must_host(workspace / "clone", "git fsck --no-progress; git status --short");
    call("cd clone; git remote add other https://example.com/x.git; git branch -q -m renamed");
    EXPECT_EQ(call("cd clone; git remote; git branch --show-current"), "origin\nother\nrenamed\n");
  }
}

KERNEL_TEST(KernelGit, WhatWasMadeInsideCanBeMovedAndRemovedByALaterCall) {
  for (const std::string& view : kViews) {
    const Workspace workspace{visible_place()};
    const auto call = [&](const std::string& script) {
      const Ran ran = workspace.run(shell(git(script)), in_view(view));
      EXPECT_EQ(ran.exit_code, 0) << view << ": " << script << "\n" << ran.err;
      EXPECT_EQ(ran.err, "") << view << ": " << script;
      return ran.out;
    };
    must_host(workspace.path(), "git init -q -b main; git commit -q --allow-empty -m first");
    call(
        "git init -q library; git -C library commit -q --allow-empty -m x; git init -q super; "
        "cd super; git -c protocol.file.allow=always submodule --quiet add ../library sub; "
        "git commit -qm y; git init -q --bare ../bare.git; git clone -q ../library ../clone");
    call(
        "mv clone other; mv super moved; git -C other log --format=%s; git -C moved status "
        "--short");
    EXPECT_EQ(call("git -C other log --format=%s"), "x\n");
    call("rm -rf other moved bare.git library");
    EXPECT_EQ(call("ls | grep -v payload || true"), "");
    must_host(workspace.path(), "git fsck --no-progress; git log --format=%s");
  }
}

KERNEL_TEST(KernelGit, WorktreesMadeInsideCanBeRemovedByALaterCall) {
  const Workspace workspace{visible_place()};
  const auto call = [&](const std::string& script) {
    const Ran ran = workspace.run(shell(git(script)), {"--view", "host"});
    EXPECT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
    EXPECT_EQ(ran.err, "") << script;
    return ran.out;
  };
  must_host(workspace.path(), "git init -q -b main; echo x > f; git add f; git commit -qm first");
  call("git worktree add -q a; git worktree add -q b; git worktree remove a");
  call("cd b; echo y > f; git commit -qam second; git gc -q; git stash list");
  call("git worktree move b c; git worktree remove c; git merge -q --ff-only b");
  EXPECT_EQ(call("git worktree list | wc -l; cat f"), "1\ny\n");
  must_host(workspace.path(), "test ! -e .git/worktrees; git fsck --no-progress");
}

// In the minimal view its checkout does not exist, so that git would take it for abandoned.
KERNEL_TEST(KernelGit, AWorktreeOfTheHostIsNotRemovedFromInside) {
  const Workspace workspace{visible_place()};
  must_host(workspace.path(),
            "git init -q -b main; echo x > f; git add f; git commit -qm first; "
            "git worktree add -q ../outer; git worktree add -q inner; "
            "touch -d '1 year ago' .git/worktrees/*/index");
  const bool served =
      workspace.run(shell("grep -e '- fuse' /proc/self/mountinfo")).out.contains("/.git");
  const std::string outer = "git worktree remove --force " + (workspace.around() / "outer");
  for (const std::string& view : kViews) {
    EXPECT_NE(workspace.run(shell(git(outer)), in_view(view)).exit_code, 0);
    // What is writable can be deleted, unless the worktree is shown as locked.
    if (served || view == "minimal")
      EXPECT_NE(workspace.run(shell(git("git worktree remove inner")), in_view(view)).exit_code, 0);
    EXPECT_NE(workspace.run(shell(git("git worktree unlock inner")), in_view(view)).exit_code, 0);
    const Ran ran = workspace.run(
        shell(git("git worktree prune -v; git gc -q; git worktree add -q --detach /tmp/x; "
                  "git worktree remove /tmp/x")),
        in_view(view));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out + ran.err, "") << view;
  }
  EXPECT_TRUE(exists(workspace / "inner/f"));
  must_host(workspace.around() / "outer", "git status --short; git commit -q --allow-empty -m x");
  // On the host nothing is locked.
  must_host(workspace.path(), "git worktree remove inner; git worktree remove ../outer");
}

KERNEL_TEST(KernelGit, AWorktreeWithAPathOfTheMinimalViewIsExplained) {
  const Workspace workspace{visible_place()};
  must_host(workspace.path(), "git init -q -b main; git commit -q --allow-empty -m first");
  const Arguments add = shell(git("git worktree add -q beside"));
  const nlohmann::json output = json_of(workspace.run(add, {"--json"}));
  ASSERT_EQ(output["quarantined"].size(), 2U) << output.dump();
  const std::string why = ", which exists only inside; with --view host paths are the host's";
  EXPECT_EQ(output["quarantined"][0]["problem"], "it leads to /work/beside/.git" + why);
  EXPECT_EQ(output["quarantined"][1]["problem"], "it leads to /work/.git/worktrees/beside" + why);
  must_host(workspace.path(), "rm -rf beside; git worktree prune");
  EXPECT_EQ(workspace.run(add, {"--view", "host"}).err, "");
}

KERNEL_TEST(KernelGit, WhatIsWrittenBesideTheWorkspaceIsLostAndANoteSaysSo) {
  const Workspace workspace{visible_place()};
  must_host(workspace.path(), "git init -q -b main; git commit -q --allow-empty -m first");
  const auto notes = [&](const std::string& script) {
    const Ran ran =
        workspace.run(shell(git(script)), {"--view", "host", "--json"}, workspace.options());
    return json_of(ran).value("notes", nlohmann::json::array()).dump();
  };
  EXPECT_THAT(notes("git worktree add -q ../beside"), HasSubstr(workspace.around() / "beside"));
  EXPECT_FALSE(exists(workspace.around() / "beside"));
  must_host(workspace.path(), "git worktree prune");
  EXPECT_EQ(notes("mkdir -p ~/.cache/x ~/.config; touch ~/.bash_history made"), "[]");
  const std::string many = notes("cd ..; touch 1 2 3 4 5 6 7 8 9");
  EXPECT_THAT(many, HasSubstr("and more"));
  EXPECT_LT(many.size(), 1000U);
}

KERNEL_TEST(KernelGit, APartOfARepositoryIsSaidToBeOne) {
  const Workspace workspace;
  must_host(workspace.path(), "git init -q -b main; mkdir sub");
  const auto notes = [&](const std::string& directory, const Arguments& flags) {
    RunOptions options = workspace.options();
    options.directory = directory;
    Arguments words{"run", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "true"});
    return json_of(run_coop(words, options)).value("notes", nlohmann::json::array()).dump();
  };
  EXPECT_THAT(notes(workspace / "sub", {}), HasSubstr("-w " + workspace.path()));
  EXPECT_EQ(notes(workspace.path(), {}), "[]");
  EXPECT_EQ(notes(workspace / "sub", {"-w", "."}), "[]");  // it was named
}

// These write git's settings on the way. What they are for must be done nevertheless.
KERNEL_TEST(KernelGit, CommandsThatAlsoWriteSettingsDoTheRest) {
  const Workspace workspace;
  must_host(workspace.path(),
            "git init -q -b main; echo x > f; git add .; git commit -qm first; git branch -q old; "
            "git update-ref refs/remotes/origin/topic HEAD; echo y > g; git add g; git commit -qm "
            "second; git config remote.origin.url https://example.com/x; git config "
            "remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'");
  const std::string settings = read_file(workspace / ".git/config");
  const auto call = [&](const std::string& script) {
    return workspace.run(shell(git(script + " 2>&1 || true; git branch --show-current; git status "
                                            "--short")));
  };
  EXPECT_THAT(call("git checkout -q -b new origin/topic").out, testing::EndsWith("\nnew\n"));
  EXPECT_FALSE(exists(workspace / "g"));
  EXPECT_THAT(call("git checkout -q main").out, testing::EndsWith("main\n"));
  EXPECT_THAT(call("git switch -q topic").out, testing::EndsWith("\ntopic\n"));
  call("git checkout -q main; git branch -m old renamed || true; git branch -qD new");
  EXPECT_EQ(
      run_bare(shell("git branch --format='%(refname:short)'"), {.directory = workspace.path()})
          .out,
      "main\nrenamed\ntopic\n");
  EXPECT_EQ(read_file(workspace / ".git/config"), settings);
  EXPECT_FALSE(exists(workspace / ".git/config.lock"));
  EXPECT_EQ(run_bare(shell("git status --short"), {.directory = workspace.path()}).out, "");
}

KERNEL_TEST(KernelGit, ARefusedSettingIsExplainedAtTheEnd) {
  const Workspace workspace;
  must_host(workspace.path(), "git init -q -b main; git commit -q --allow-empty -m first");
  const Arguments add = shell("git remote add x https://example.com/x");
  const nlohmann::json output = json_of(workspace.run(add, {"--json"}));
  EXPECT_NE(output["exit_code"], 0);
  ASSERT_EQ(output["denials"].size(), 1U) << output.dump();
  EXPECT_EQ(output["denials"][0]["what"], "changing " + (workspace / ".git/config"));
  EXPECT_EQ(output["denials"][0]["grant"], "--allow-guarded .git/config");
  EXPECT_THAT(workspace.run(add).err, HasSubstr("to allow it: --allow-guarded .git/config"));
  const Ran allowed = workspace.run(add, {"--allow-guarded", ".git/config"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  // Nothing is refused, so nothing is said.
  EXPECT_EQ(workspace.run(shell(git("git commit -q --allow-empty -m y; git gc -q"))).err, "");
  const std::string none = "git config --get-regexp '^x'; git config --unset none.x";
  EXPECT_EQ(workspace.run(shell(none)).err, "");
}

KERNEL_TEST(KernelGit, SubmodulesAndWorktreesMadeInsideAreUsableInLaterCalls) {
  const Workspace workspace{visible_place()};
  const auto call = [&](const std::string& script) {
    const Ran ran = workspace.run(shell(git(script)), {"--view", "host"});
    EXPECT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
    EXPECT_EQ(ran.err, "") << script;
  };
  must_host(workspace.path(),
            "git init -q library; git -C library commit -q --allow-empty -m x; git init -q super; "
            "cd super; git -c protocol.file.allow=always submodule --quiet add ../library sub; "
            "git commit -qm y");
  call("git -c protocol.file.allow=always clone -q --recurse-submodules super clone 2>/dev/null");
  call("cd clone/sub; git commit -q --allow-empty -m inside; cd ..; git add sub; git commit -qm z");
  call("cd clone; git worktree add -q ../tree 2>/dev/null");
  call("cd tree; git commit -q --allow-empty -m inside; git status --short");
  must_host(workspace / "tree", "git log -1 --format=%s | grep -q inside; git fsck --no-progress");
}

constexpr const char* kConflict =
    "git init -q -b main .; echo a > f; git add f; git commit -qm a; git checkout -qb topic; "
    "echo b > f; git commit -qam b; echo c > g; git add g; git commit -qm c; git checkout -q main; "
    "echo d > f; git commit -qam d; ";

KERNEL_TEST(KernelGit, ARebaseThatStoppedIsContinuedByALaterCall) {
  for (const std::string& view : kViews) {
    const Workspace workspace{visible_place()};
    const auto call = [&](const std::string& script) {
      const Ran ran =
          workspace.run(shell(git("export GIT_EDITOR=true; " + script)), in_view(view, {"--json"}));
      EXPECT_EQ(json_of(ran)["exit_code"], 0) << view << ": " << script << "\n" << ran.out;
      EXPECT_EQ(json_of(ran)["quarantined"], nlohmann::json::array()) << view << ": " << script;
    };
    must_host(workspace.path(), kConflict);
    call("git checkout -q topic; ! git rebase -q main");
    call("echo e > f; git add f; git rebase --continue");
    EXPECT_EQ(host_log(workspace.path()), "c\nb\nd\na\n");
    // One that the user started, with a program of the user's own.
    must_host(
        workspace.path(),
        "git checkout -q -b again main; git reset -q --hard HEAD~1; echo x > f; git commit "
        "-qam x; echo y > y; git add y; git commit -qm y; ! git rebase -q -x 'touch ran' main");
    call("git status --short");
    call("echo z > f; git add f; git rebase --continue");
    EXPECT_TRUE(exists(workspace / "ran"));
    EXPECT_EQ(host_log(workspace.path()), "y\nx\nd\na\n");
    call("git checkout -q main; echo q > f; git commit -qam q; ! git cherry-pick -x topic~1 topic");
    call("echo r > f; git add f; git cherry-pick --continue");
    EXPECT_EQ(host_log(workspace.path()), "c\nb\nq\nd\na\n");
  }
}

KERNEL_TEST(KernelGit, CommitInALinkedWorktree) {
  for (const std::string& view : kViews) {
    const Workspace workspace{visible_place()};
    std::filesystem::remove_all(workspace.path());
    make_directories(workspace.around() / "main");
    must_host(workspace.around() / "main",
              "git init -q; echo x > x; git add .; git commit -qm first; git worktree add -q "
              "../workspace -b linked");
    expect_commit(workspace, ".", view);
    EXPECT_THAT(run_bare(shell(git("git log --format=%s linked")),
                         {.directory = workspace.around() / "main"})
                    .out,
                HasSubstr("inside " + view));
    // The main worktree's files are not visible, and its hooks and settings are guarded.
    EXPECT_NE(workspace.run({"cat", workspace.around() / "main/x"}, {}).exit_code, 0);
    // In the host view it may lie in the sandbox's own home.
    workspace.run({"touch", workspace.around() / "main/made"}, in_view(view));
    EXPECT_FALSE(exists(workspace.around() / "main/made"));
    const std::string hooks = workspace.around() / "main/.git/hooks";
    EXPECT_NE(workspace.run(shell("echo evil > " + hooks + "/pre-commit"), in_view(view)).exit_code,
              0);
    EXPECT_FALSE(exists(hooks + "/pre-commit"));
  }
}

void make_superproject(const Workspace& workspace) {
  make_directories(workspace.around() / "library");
  must_host(workspace.around() / "library",
            "git init -q; echo x > x; git add .; git commit -qm library");
  must_host(workspace.path(),
            "git init -q; git -c protocol.file.allow=always submodule --quiet add " +
                (workspace.around() / "library") + " sub; git add .; git commit -qm first");
}

KERNEL_TEST(KernelGit, CommitInASuperprojectAndItsSubmodule) {
  const Workspace workspace;
  make_superproject(workspace);
  for (const std::string& view : kViews) {
    expect_commit(workspace, "sub", view);
    expect_commit(workspace, ".", view);
  }
}

KERNEL_TEST(KernelGit, CommitWithOnlyTheSubmodulesCheckoutAsWorkspace) {
  // The checkout and its git directory refer to each other by relative paths, so both must be at
  // their places.
  const Workspace workspace{visible_place()};
  make_superproject(workspace);
  const Ran ran =
      run_coop({"run", "-w", workspace / "sub", "--view", "host", "--", "sh", "-c",
                git("echo x > only; git add .; git commit -qm only; git log -1 --format=%s")},
               {.directory = workspace / "sub"});
  EXPECT_EQ(ran.out, "only\n") << ran.err;
  EXPECT_THAT(host_log(workspace / "sub"), HasSubstr("only\n"));
}

}  // namespace
}  // namespace coop::tests
