// What people do with git every day, in a repository of the user's own: each command works, or says why not and has done no
// harm. Root, and suites called …Served, have git directories served over FUSE; for the ordinary user mounts guard them.
#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

constexpr const char* kEverydayGit =
    "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
    "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_ALLOW_PROTOCOL=file "
    "GIT_EDITOR=true; ";

enum class Expected {
  works,  // and nothing is said
  told,   // settings were not written: a note names the flag
  busy    // a mount is in the way, and only git says so
};

struct EverydayStep {
  const char* inside;
  const char* afterwards;  // holds on the host
  Expected served = Expected::works;
  Expected mounted = Expected::works;
  const char* restore = "true";  // on the host
};

constexpr auto kEverydaySteps = std::to_array<EverydayStep>({
    {"git tag v1; git tag -a -m x v2; git tag -d v1 >/dev/null", "git rev-parse -q --verify v2"},
    {"echo z > a; git stash -q; git stash pop -q; git checkout -q a", "grep -qx 1 a"},
    {"GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -q -i HEAD~2",
     "test $(git rev-list --count HEAD) = 2"},
    {"git merge -q --no-ff -m merge topic", "test -e topic"},
    {"git revert --no-edit -m 1 HEAD >/dev/null; git reset -q --hard HEAD~1", "test -e topic"},
    {"git cherry-pick other >/dev/null", "test -e other"},
    {"{ git bisect start HEAD HEAD~2; git bisect reset; } >/dev/null 2>&1",
     "git symbolic-ref HEAD"},
    {"git notes add -m x", "git notes show"},
    {"git checkout -q -b new; git switch -q main", "test -e topic"},
    {"git gc -q; git repack -adq; git prune; git fsck --no-progress --no-dangling", "git log"},
    {"git fetch -q ./remote.git 'refs/heads/*:refs/remotes/near/*'; git merge -q -m x near/far",
     "test -e far"},
    {"git push -q ./remote.git HEAD:refs/heads/pushed",
     "test $(git -C remote.git rev-parse pushed) = $(git rev-parse HEAD)"},
    {"git submodule foreach -q 'git log -1 >/dev/null'; git submodule status >/dev/null", "true"},

    // git writes settings as they are, or none. Where a mount is in the way it has done its work before.
    {"git branch -m old renamed", "git rev-parse -q --verify renamed", Expected::works,
     Expected::told},
    {"git branch -q -d merged", "! git rev-parse -q --verify merged", Expected::works,
     Expected::told},
    {"cd sub; echo y > y; git add y; git commit -qm y; cd ..; git submodule --quiet update; "
     "git diff --exit-code -- sub",
     "git -C sub log", Expected::works, Expected::told, "git submodule --quiet update"},

    // These change settings.
    {"git branch -m tracked followed", "git rev-parse -q --verify followed", Expected::told,
     Expected::told},
    {"git submodule --quiet add ./library.git added", "test -e added/x", Expected::told,
     Expected::told, "git reset -q --hard; rm -rf added .git/modules/added"},
    {"git submodule --quiet init gone", "! git config submodule.gone.url", Expected::told,
     Expected::told},
    {"git submodule --quiet deinit -f sub", "test -e sub/.git", Expected::told, Expected::busy,
     "git -C sub checkout -q ."},
    {"git remote add x https://example.com/x", "! git config remote.x.url", Expected::told,
     Expected::told},

    // The .git file of the user's submodule is guarded, by a mount in both cases.
    {"git mv sub moved", "test -e sub/.git; test ! -e moved", Expected::busy, Expected::busy},
});

void on_the_host(const std::string& directory, const std::string& script) {
  const Ran ran = run_bare(shell(kEverydayGit + script), {.directory = directory});
  ASSERT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
}

void make_users_repository(const Workspace& workspace) {
  on_the_host(
      workspace.path(),
      "git init -q -b main library; cd library; echo x > x; git add x; git commit -qm x; cd ..; "
      "git clone -q --bare library library.git; rm -rf library; git init -q -b main; "
      "git submodule --quiet add ./library.git sub; git submodule --quiet add ./library.git gone; "
      "git commit -qm first; git submodule --quiet deinit -f gone; rm -rf .git/modules/gone; "
      "for branch in old merged tracked; do git branch $branch; done; "
      "git config branch.tracked.remote origin; git config branch.tracked.merge refs/heads/main; "
      "for branch in topic other far; do git checkout -q -b $branch main; echo x > $branch; "
      "git add $branch; git commit -qm $branch; done; git clone -q --bare . remote.git; "
      "git checkout -q main; git branch -q -D far; "
      "for file in a b; do echo 1 > $file; git add $file; git commit -qm $file; done; "
      "printf '/library.git\\n/remote.git\\n/payload\\n' > .git/info/exclude");
}

bool git_is_served(const Workspace& workspace) {
  return workspace.run(shell("grep -e '- fuse' /proc/self/mountinfo")).out.contains("/.git");
}

void expect_step(const Workspace& workspace, const EverydayStep& step, Expected expected,
                 const std::string& view) {
  const std::string where = view + ": " + step.inside;
  const Ran ran = workspace.run(shell(kEverydayGit + std::string(step.inside)), in_view(view));
  if (expected == Expected::works) {
    EXPECT_EQ(ran.exit_code, 0) << where << "\n" << ran.err;
    EXPECT_EQ(ran.err, "") << where;
  } else if (expected == Expected::told) {
    EXPECT_THAT(ran.err, HasSubstr("it is guarded; to allow it: --allow-guarded .git/config"))
        << where;
  } else {
    EXPECT_THAT(ran.err, HasSubstr("Device or resource busy")) << where;
  }
  EXPECT_FALSE(ran.err.contains("quarantined")) << where << "\n" << ran.err;
  on_the_host(workspace.path(), std::string(step.afterwards) + " >/dev/null");
  on_the_host(workspace.path(), step.restore);
}

void expect_everyday_git() {
  for (const std::string& view : kViews) {
    const Workspace workspace{visible_place()};
    ASSERT_NO_FATAL_FAILURE(make_users_repository(workspace));
    const bool served = git_is_served(workspace);
    const std::string settings = read_file(workspace / ".git/config");
    for (const EverydayStep& step : kEverydaySteps) {
      expect_step(workspace, step, served ? step.served : step.mounted, view);
      EXPECT_EQ(read_file(workspace / ".git/config"), settings) << step.inside;
      EXPECT_FALSE(exists(workspace / ".git/config.lock")) << step.inside;
    }
    on_the_host(workspace.path(), "git fsck --no-progress --no-dangling; git -C sub fsck");
  }
}

KERNEL_TEST(KernelGitEveryday, EachCommandWorksOrSaysWhyNot) { expect_everyday_git(); }

// The ordinary user has /dev/fuse in this suite.
KERNEL_TEST(KernelGitEverydayServed, EachCommandWorksOrSaysWhyNot) { expect_everyday_git(); }

}  // namespace
}  // namespace coop::tests
