// Write guards: files that host programs obey are read-only inside a writable workspace.
#include <gmock/gmock.h>

#include "policy/builtin.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

GuardedPath guarded(const Path& path, const std::string& guard, std::uint64_t links = 1) {
  return {.path = path, .guard = guard, .links = links};
}

HostFacts repository() {
  HostFacts host = anns_machine();
  host.workspace.guarded = {guarded("/home/ann/project/.git/config", ".git/config"),
                            guarded("/home/ann/project/.git/hooks", ".git/hooks")};
  for (const char* path : {"/home/ann/project/.git", "/home/ann/project/.git/hooks"})
    add_path(host, path);
  return host;
}

std::vector<std::string> all_names() { return *policy::guard_names({}); }

TEST(PlanGuardsTest, GuardedPathsAreReadOnlyAndTheirParentsPinned) {
  const Plan plan = must_compile(policy_for(View::minimal), repository());
  EXPECT_TRUE(same(about(plan, "/work"),
                   {MakeDirectory{"/work"}, BindMount{kProject, "/work", kReadWrite},
                    Remount{"/work/.git", kReadWrite}, Remount{"/work/.git/config", kReadOnly},
                    Remount{"/work/.git/hooks", kReadOnly}}));
  const GuardPlan expected{
      .roots = {kProject},
      .names = all_names(),
      .mounted = {"/home/ann/project/.git/config", "/home/ann/project/.git/hooks"},
      .places = {"/work/.git/config", "/work/.git/hooks"}};
  EXPECT_EQ(plan.guards, expected);
}

// The mount steps of files that stand for checkouts.
std::vector<Path> checkouts_of(const Plan& plan) {
  std::vector<Path> places;
  for (const Step& step : plan.steps)
    if (const auto* file = std::get_if<MakeFile>(&step.action);
        file != nullptr && file->target.ends_with("/.git"))
      places.push_back(file->target);
  return places;
}

TEST(PlanGuardsTest, AWorktreeWhoseCheckoutIsNotVisibleHasAFileInItsPlace) {
  HostFacts host = repository();
  const auto worktree = [&](const std::string& name, const Path& checkout) {
    host.worktrees.push_back({"/home/ann/project/.git/worktrees/" + name, checkout});
  };
  worktree("beside", "/home/ann/beside/.git");
  worktree("inside", "/home/ann/project/inside/.git");
  worktree("relative", "../../../../far/.git");
  // What an earlier sandbox may have written.
  for (const char* odd :
       {"/work/x/.git", "/usr/x/.git", "/proc/.git", "/home/ann/beside/.git/a/.git", "/etc/passwd",
        "/work", "relative", "/etc/resolv.conf/.git"})
    worktree("odd", odd);
  EXPECT_EQ(
      checkouts_of(must_compile(policy_for(View::minimal), host)),
      (std::vector<Path>{"/far/.git", "/home/ann/beside/.git", "/home/ann/project/inside/.git"}));
  worktree("shown", "/srv/shown/.git");
  worktree("gone", "/srv/gone/.git");
  add_path(host, "/srv/shown/.git", PathKind::file);
  // There those in the workspace are visible; homes are not.
  EXPECT_EQ(checkouts_of(must_compile(policy_for(View::host), host)),
            (std::vector<Path>{"/home/ann/beside/.git", "/home/ann/far/.git"}));
  EXPECT_EQ(all_of<CoverFile>(must_compile(policy_for(View::host), host)),
            (std::vector{CoverFile{"/srv/shown/.git", ""}}));
}

TEST(PlanGuardsTest, InTheHostViewTheyAreGuardedAtTheirOwnPaths) {
  const Plan plan = must_compile(policy_for(View::host), repository());
  EXPECT_TRUE(same(about(plan, kProject),
                   {MakeDirectory{kProject}, BindMount{kProject, kProject, kReadWrite},
                    Remount{"/home/ann/project/.git", kReadWrite},
                    Remount{"/home/ann/project/.git/config", kReadOnly},
                    Remount{"/home/ann/project/.git/hooks", kReadOnly}}));
}

TEST(PlanGuardsTest, EveryDirectoryOnTheWayIsPinned) {
  HostFacts host = anns_machine();
  host.workspace.guarded = {guarded("/home/ann/project/a/b/.git/hooks", ".git/hooks")};
  EXPECT_EQ(all_of<Remount>(must_compile(policy_for(View::minimal), host)),
            (std::vector{Remount{"/work/a", kReadWrite}, Remount{"/work/a/b", kReadWrite},
                         Remount{"/work/a/b/.git", kReadWrite},
                         Remount{"/work/a/b/.git/hooks", kReadOnly}}));
}

TEST(PlanGuardsTest, AnAllowedNameIsNeitherMountedNorWatched) {
  Policy policy = policy_for(View::minimal);
  policy.allow_guarded = {".git/hooks"};
  const Plan plan = must_compile(policy, repository());
  EXPECT_EQ(all_of<Remount>(plan), (std::vector{Remount{"/work/.git", kReadWrite},
                                                Remount{"/work/.git/config", kReadOnly}}));
  EXPECT_THAT(plan.guards.names, testing::Not(testing::Contains(".git/hooks")));
  EXPECT_THAT(plan.guards.names, testing::Contains(".git/config"));
}

TEST(PlanGuardsTest, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  Policy policy = policy_for(View::minimal);
  policy.allow_guarded = {".git/hook"};
  const Error error = must_fail(policy, repository());
  EXPECT_EQ(to_text(error), "--allow-guarded: \".git/hook\" is not a guarded name");
  EXPECT_THAT(error.hint, testing::HasSubstr(".git/hooks"));
}

TEST(PlanGuardsTest, AReadOnlyWorkspaceNeedsNoGuards) {
  Policy policy = policy_for(View::minimal);
  policy.workspace_access = Access::read_only;
  const Plan plan = must_compile(policy, repository());
  EXPECT_TRUE(same(about(plan, "/work"), {MakeDirectory{"/work"}, BindMount{kProject, "/work"}}));
  EXPECT_EQ(plan.guards.roots, std::vector<Path>{});  // nothing to look through afterwards
  EXPECT_EQ(plan.guards.mounted, std::vector<Path>{});
}

TEST(PlanGuardsTest, TheRepositoryOfALinkedWorktreeIsWritableAndGuarded) {
  HostFacts host = anns_machine();
  host.workspace.outside_git = {"/srv/main/.git"};
  host.workspace.guarded = {guarded("/srv/main/.git/hooks", ".git/hooks")};
  for (const View view : {View::minimal, View::host}) {
    const Plan plan = must_compile(policy_for(view), host);
    Actions actions = about(plan, "/srv");
    std::erase_if(actions, [](const Action& action) {
      return std::holds_alternative<MakeDirectory>(action);
    });
    // The host view asks for the directory's fact only when a mount point has to be there.
    EXPECT_TRUE(same(actions, {BindMount{"/srv/main/.git", "/srv/main/.git", kReadWrite},
                               Remount{"/srv/main/.git/hooks", kReadOnly}}));
    EXPECT_EQ(plan.guards.roots, (std::vector<Path>{kProject, "/srv/main/.git"}));
    add_path(host, "/srv/main/.git");
  }
}

// A package manager's bare repositories are no surprise in its cache: whichever file or flag names the cache.
TEST(PlanGuardsTest, ACacheIsNotWatchedWhereverItIsNamed) {
  HostFacts host = anns_machine();
  add_path(host, "/home/ann/.cargo/git");
  PathRule cache = rule(RuleKind::read_write, "/home/ann/.cargo/git");
  const auto roots = [&](const Origin& origin) {
    cache.origin = origin;
    Policy policy = policy_for(View::minimal);
    policy.rules = {cache};
    return must_compile(policy, host).guards.roots;
  };
  using testing::ElementsAre;
  EXPECT_THAT(roots(Origin::of_flag("--rw")), ElementsAre(kProject, "/home/ann/.cargo/git"));
  EXPECT_THAT(roots(Origin::of_flag("--cache", "cargo", Part::cache)), ElementsAre(kProject));
  Origin named = in_file("policy.toml", 3, Scope::user);
  named.part = Part::cache;
  named.name = "cargo";
  EXPECT_THAT(roots(named), ElementsAre(kProject));
}

TEST(PlanGuardsTest, WhatIsNotWatchedCompletelyIsNoted) {
  HostFacts host = repository();
  host.workspace.complete = false;
  host.workspace.guarded[0].links = 2;
  const Plan plan = must_compile(policy_for(View::minimal), host);
  EXPECT_THAT(plan.notes, testing::ElementsAre(
                              testing::HasSubstr("/home/ann/project/.git/config has 2 hard links"),
                              testing::HasSubstr("too large to look at all of it")));
}

TEST(PlanGuardsTest, NothingIsGuardedInsideWhatARuleReplaces) {
  // The hidden or empty directory has no .git/hooks to mount on: guarding it would fail at the start.
  for (const RuleKind kind : {RuleKind::hide, RuleKind::tmpfs})
    for (const View view : {View::minimal, View::host}) {
      Policy policy = policy_for(view);
      policy.rules = {rule(kind, "/home/ann/project/.git")};
      const Plan plan = must_compile(policy, repository());
      for (const Remount& remount : all_of<Remount>(plan))
        EXPECT_FALSE(is_within(remount.target, plan.workspace + "/.git")) << remount.target;
    }
}

TEST(PlanGuardsTest, AWiderGrantDoesNotLoosenAGuard) {
  // --rw .git is wider than the guard on .git/hooks: the guard is more specific and stays.
  Policy policy = policy_for(View::minimal);
  policy.rules = {rule(RuleKind::read_write, "/home/ann/project/.git")};
  const Actions actions = about(must_compile(policy, repository()), "/work/.git");
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_TRUE(same({actions[1], actions[2]}, {Remount{"/work/.git/config", kReadOnly},
                                              Remount{"/work/.git/hooks", kReadOnly}}));
}

// The last thing mounted at or above `path`: what a program inside meets there.
Action met_at(const Plan& plan, const Path& path) {
  Action met = RootTmpfs{};
  for (const Action& action : actions_of(plan))
    if (const Path target = target_of(action);
        !target.empty() && !std::holds_alternative<MakeDirectory>(action) &&
        !std::holds_alternative<Seal>(action) && is_within(path, target))
      met = action;
  return met;
}

TEST(PlanGuardsTest, AStricterRuleForAGuardedOrPinnedPathIsKept) {
  HostFacts host = repository();
  add_path(host, "/home/ann/project/.envrc", PathKind::file);
  host.workspace.guarded.insert(host.workspace.guarded.begin(),
                                guarded("/home/ann/project/.envrc", ".envrc"));
  const auto met = [&](RuleKind kind, const Path& name) {
    Policy policy = policy_for(View::minimal);
    policy.rules = {rule(kind, "/home/ann/project/" + name)};
    return met_at(must_compile(policy, host), "/work/" + name);
  };
  EXPECT_TRUE(same({met(RuleKind::hide, ".envrc")}, {HideMount{"/work/.envrc", PathKind::file}}));
  EXPECT_TRUE(same({met(RuleKind::hide, ".git/hooks")}, {HideMount{"/work/.git/hooks"}}));
  EXPECT_TRUE(same({met(RuleKind::hide, ".git")}, {HideMount{"/work/.git"}}));
  EXPECT_TRUE(same({met(RuleKind::tmpfs, ".git")}, {tmpfs_at("/work/.git")}));
  EXPECT_TRUE(same({met(RuleKind::read_only, ".git")},
                   {BindMount{"/home/ann/project/.git", "/work/.git"}}));
}

}  // namespace
}  // namespace coop::plan
