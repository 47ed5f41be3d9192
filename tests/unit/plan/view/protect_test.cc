// Protected paths: read-only wherever they would be writable, pinned, and never shown by
// themselves.
#include <gmock/gmock.h>

#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

constexpr const char* kData = "/home/ann/project/var/data";

HostFacts machine_with_data() {
  HostFacts host = anns_machine();
  for (const char* path : {"/home/ann/project/var", kData, "/home/ann/project/var/data/deep/er",
                           "/srv/data", "/srv/data/keep", "/srv/data/keep/inner"})
    add_path(host, path);
  add_path(host, "/home/ann/project/notes", PathKind::file);
  return host;
}

Plan protected_by(View view, std::vector<PathRule> rules,
                  const HostFacts& host = machine_with_data()) {
  Policy policy = policy_for(view);
  policy.rules = std::move(rules);
  return must_compile(policy, host);
}

Error refused(std::vector<PathRule> rules, const HostFacts& host = machine_with_data()) {
  Policy policy = policy_for(View::host);
  policy.rules = std::move(rules);
  return must_fail(policy, host);
}

PathRule protect(const Path& path) { return rule(RuleKind::protect, path); }

TEST(PlanProtectTest, InTheWritableWorkspaceItIsReadOnlyAndItsParentsArePinned) {
  EXPECT_TRUE(same(about(protected_by(View::minimal, {protect(kData)}), "/work"),
                   {MakeDirectory{"/work"}, BindMount{kProject, "/work", kReadWrite},
                    Remount{"/work/var", kReadWrite}, Remount{"/work/var/data", kReadOnly}}));
  EXPECT_TRUE(same(about(protected_by(View::host, {protect(kData)}), kProject),
                   {MakeDirectory{kProject}, BindMount{kProject, kProject, kReadWrite},
                    Remount{"/home/ann/project/var", kReadWrite}, Remount{kData, kReadOnly}}));
}

TEST(PlanProtectTest, TheStepKnowsWhoAskedForIt) {
  PathRule asked = protect(kData);
  asked.origin = in_file("/etc/coop/policy.toml", 3);
  const Plan plan = protected_by(View::minimal, {asked});
  const auto step =
      std::ranges::find(plan.steps, Action{Remount{"/work/var/data", kReadOnly}}, &Step::action);
  ASSERT_NE(step, plan.steps.end());
  EXPECT_EQ(step->origin, in_file("/etc/coop/policy.toml", 3));
  EXPECT_EQ(step->why, "asked for");
}

TEST(PlanProtectTest, WhatIsNotShownOrNotWritableStaysAsItIs) {
  EXPECT_EQ(protected_by(View::minimal, {protect("/srv/data")}), protected_by(View::minimal, {}));
  EXPECT_EQ(protected_by(View::host, {protect("/srv/data")}), protected_by(View::host, {}));
  for (const View view : {View::minimal, View::host})
    for (const RuleKind kind : {RuleKind::read_only, RuleKind::overlay, RuleKind::tmpfs}) {
      const PathRule shown = rule(kind, "/srv/data");
      EXPECT_EQ(protected_by(view, {shown, protect("/srv/data/keep")}),
                protected_by(view, {shown}));
      EXPECT_EQ(protected_by(view, {shown, protect("/srv/data")}), protected_by(view, {shown}));
    }
}

TEST(PlanProtectTest, AStricterOrHarmlessRuleForTheSamePathOrAboveIsKept) {
  for (const RuleKind kind :
       {RuleKind::hide, RuleKind::tmpfs, RuleKind::overlay, RuleKind::read_only})
    for (const Path& path : {Path(kData), Path("/home/ann/project/var")}) {
      const PathRule stricter = rule(kind, path);
      EXPECT_EQ(protected_by(View::minimal, {protect(kData), stricter}),
                protected_by(View::minimal, {stricter}));
      EXPECT_EQ(protected_by(View::minimal, {stricter, protect(kData)}),
                protected_by(View::minimal, {stricter}));
    }
}

TEST(PlanProtectTest, AWiderGrantDoesNotLoosenIt) {
  for (const View view : {View::minimal, View::host}) {
    const Plan plan =
        protected_by(view, {protect("/srv/data/keep"), rule(RuleKind::read_write, "/srv/data")});
    EXPECT_TRUE(same(about(plan, "/srv/data/keep"), {Remount{"/srv/data/keep", kReadOnly}}));
  }
}

TEST(PlanProtectTest, EveryPlaceOfItIsProtected) {
  // --rw /opt/shared shows a bind mount of the host: the same directory under another name.
  HostFacts host = machine_with_data();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/data", .target = "/opt/shared/data"}};
  for (const char* path : {"/opt/shared", "/opt/shared/data/keep"}) add_path(host, path);
  const PathRule asked = protect("/srv/data/keep");
  EXPECT_EQ(wanted_aliases(Policy{.rules = {asked}}, host),
            std::vector<Path>{"/opt/shared/data/keep"});
  const Plan plan = protected_by(
      View::minimal,
      {asked, rule(RuleKind::read_write, "/srv/data"), rule(RuleKind::read_write, "/opt/shared")},
      host);
  EXPECT_EQ(all_of<Remount>(plan), (std::vector{Remount{"/opt/shared/data", kReadWrite},
                                                Remount{"/srv/data/keep", kReadOnly},
                                                Remount{"/opt/shared/data/keep", kReadOnly}}));
}

TEST(PlanProtectTest, APartThatTheHostMountsElsewhereIsProtected) {
  HostFacts host = machine_with_data();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/data/keep", .target = kData}};
  const PathRule asked = protect("/srv/data");
  EXPECT_EQ(wanted_aliases(Policy{.rules = {asked}}, host), std::vector<Path>{kData});
  EXPECT_EQ(all_of<Remount>(protected_by(View::minimal, {asked}, host)),
            (std::vector{Remount{"/work/var", kReadWrite}, Remount{"/work/var/data", kReadOnly}}));
}

TEST(PlanProtectTest, OneInsideAnotherGoesWithIt) {
  const PathRule outer = protect("/home/ann/project/var");
  const PathRule inner = protect("/home/ann/project/var/data/deep/er");
  const Plan alone = protected_by(View::minimal, {outer});
  EXPECT_EQ(protected_by(View::minimal, {outer, inner}), alone);
  EXPECT_EQ(protected_by(View::minimal, {inner, outer}), alone);
}

TEST(PlanProtectTest, AGuardInsideGoesWithItAndOneAboveStays) {
  HostFacts host = machine_with_data();
  add_path(host, "/home/ann/project/.git/hooks/x/y");
  host.workspace.guarded = {
      GuardedPath{.path = "/home/ann/project/.git/hooks", .guard = ".git/hooks"},
      GuardedPath{.path = "/home/ann/project/var/data/.git/hooks", .guard = ".git/hooks"}};
  const Plan plan = protected_by(
      View::minimal, {protect(kData), protect("/home/ann/project/.git/hooks/x/y")}, host);
  EXPECT_EQ(plan.guards.mounted, (std::vector<Path>{"/home/ann/project/.git/hooks",
                                                    "/home/ann/project/var/data/.git/hooks"}));
  EXPECT_TRUE(same(about(plan, "/work/var"),
                   {Remount{"/work/var", kReadWrite}, Remount{"/work/var/data", kReadOnly}}));
  EXPECT_THAT(all_of<Remount>(plan), testing::Contains(Remount{"/work/.git/hooks", kReadOnly}));
}

TEST(PlanProtectTest, OverlayAndTmpfsInsideAreAllowed) {
  for (const RuleKind kind : {RuleKind::overlay, RuleKind::tmpfs}) {
    const Plan plan = protected_by(
        View::host, {protect("/srv/data/keep"), rule(RuleKind::read_write, "/srv/data"),
                     rule(kind, "/srv/data/keep/inner")});
    const Actions actions = about(plan, "/srv/data/keep");
    ASSERT_EQ(actions.size(), 2u);
    EXPECT_TRUE(same({actions[0]}, {Remount{"/srv/data/keep", kReadOnly}}));
  }
}

TEST(PlanProtectTest, AWritableGrantOfItOrInsideItIsAnError) {
  PathRule final = protect("/srv/data/keep");
  final.origin = in_file("/etc/coop/policy.toml", 3);
  final.precedence = Precedence::final;
  for (const Path& path : {Path("/srv/data/keep"), Path("/srv/data/keep/inner")}) {
    const PathRule grant = rule(RuleKind::read_write, path);
    EXPECT_EQ(refused({final, grant}),
              (Error{.kind = Error::Kind::invalid,
                     .subject = "\"" + path + "\" is protected by /etc/coop/policy.toml:3",
                     .hint = "only the organisation can change that",
                     .origin = Origin::of_flag("--rw")}));
    const Error mine = refused({grant, protect("/srv/data/keep")});
    EXPECT_EQ(to_text(mine), "--rw: \"" + path + "\" is protected by --protect");
    EXPECT_EQ(mine.hint, "drop one of the two rules; --overlay gives a private copy to write to");
  }
}

TEST(PlanProtectTest, AGrantOfAnotherNameOfItIsAnError) {
  HostFacts host = machine_with_data();
  add_link(host, "/opt/link", "/srv/data/keep/inner", "/srv/data/keep/inner");
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/data/keep/inner", .target = "/opt/in"}};
  add_path(host, "/opt/in");
  for (const char* path : {"/opt/link", "/opt/in"})
    EXPECT_EQ(to_text(refused({protect("/srv/data/keep"), rule(RuleKind::read_write, path)}, host)),
              std::string("--rw: \"") + path + "\" is protected by --protect");
}

TEST(PlanProtectTest, AWritableWorkspaceInItIsAnErrorThatNamesBoth) {
  for (const Path& path : {Path("/home/ann"), Path(kProject)}) {
    const Error error = refused({protect(path)});
    EXPECT_EQ(to_text(error), std::string("--workspace: \"") + kProject +
                                  "\" would be writable inside \"" + path +
                                  "\", which is protected by --protect");
    EXPECT_THAT(error.hint, testing::HasSubstr(std::string("--ro ") + kProject));
    // And what the hint says helps.
    protected_by(View::host, {protect(path), rule(RuleKind::read_only, kProject)});
    protected_by(View::host, {protect(path), rule(RuleKind::overlay, kProject)});
  }
}

TEST(PlanProtectTest, TheRepositoryOfAWorktreeIsReadOnlyInIt) {
  HostFacts host = machine_with_data();
  host.workspace.outside_git = {"/srv/data/keep"};
  host.workspace.guarded = {GuardedPath{.path = "/srv/data/keep/hooks", .guard = ".git/hooks"}};
  for (const View view : {View::minimal, View::host}) {
    const Plan plan = protected_by(view, {protect("/srv/data")}, host);
    Actions actions = about(plan, "/srv");
    std::erase_if(actions, [](const Action& action) {
      return std::holds_alternative<MakeDirectory>(action);
    });
    EXPECT_TRUE(same(actions, {BindMount{"/srv/data/keep", "/srv/data/keep"}}));
  }
}

TEST(PlanProtectTest, AMissingPathIsAnErrorUnlessOptional) {
  const Error error = refused({protect("/home/ann/project/none")});
  EXPECT_EQ(to_text(error), "--protect: \"/home/ann/project/none\" does not exist");
  PathRule in_a_file = protect("/home/ann/project/none");
  in_a_file.origin = in_file("/etc/coop/policy.toml", 3);
  EXPECT_EQ(refused({in_a_file}).hint,
            "write \"/home/ann/project/none?\" there if it may be missing");
}

TEST(PlanProtectTest, AnOptionalMissingPathIsNotedWhereItCouldBeCreated) {
  const auto optional = [](const Path& path) {
    PathRule missing = protect(path);
    missing.if_missing = Missing::skip;
    return missing;
  };
  for (const View view : {View::minimal, View::host}) {
    EXPECT_EQ(protected_by(view, {optional("/home/ann/project/none")}).notes,
              std::vector<std::string>{"protected path /home/ann/project/none does not exist: it "
                                       "can be created inside"});
    EXPECT_EQ(protected_by(view, {optional("/srv/none")}).notes, std::vector<std::string>{});
    const std::string inner = std::string(kData) + "/none";
    EXPECT_EQ(protected_by(view, {optional(inner), protect(kData)}).notes,
              std::vector<std::string>{});
  }
}

TEST(PlanProtectTest, ASymlinkThatTheCommandCouldReplaceIsRefused) {
  HostFacts host = machine_with_data();
  add_link(host, "/home/ann/project/link", "/srv/data", "/srv/data");
  EXPECT_EQ(to_text(refused({protect("/home/ann/project/link")}, host)),
            "--protect: \"/home/ann/project/link\" leads to /srv/data by a symlink that the "
            "command could replace");
}

TEST(PlanProtectTest, HardLinksOfAProtectedFileAreMentioned) {
  HostFacts host = machine_with_data();
  host.paths["/home/ann/project/notes"].links = 2;
  EXPECT_EQ(protected_by(View::minimal, {protect("/home/ann/project/notes")}, host).notes,
            std::vector<std::string>{"protected file /home/ann/project/notes has 2 hard links: it "
                                     "can be changed through its other names"});
}

TEST(PlanProtectTest, CoopsOwnFilesAndDevicesMayBeNamed) {
  HostFacts host = machine_with_data();
  add_path(host, "/etc/coop");
  for (const View view : {View::minimal, View::host})
    for (const char* path : {"/etc/coop", "/dev", "/dev/null"})
      EXPECT_EQ(protected_by(view, {protect(path)}, host), protected_by(view, {}, host)) << path;
}

TEST(PlanProtectTest, TheWholeMachineIsRefused) {
  HostFacts host = machine_with_data();
  add_path(host, "/");
  EXPECT_EQ(to_text(refused({protect("/")}, host)), "--protect: \"/\" is the whole machine");
}

TEST(PlanProtectTest, ASocketOfTheHostStaysHidden) {
  HostFacts host = machine_with_data();
  add_path(host, "/home/ann/project/dev.sock", PathKind::socket);
  host.sockets = {"/home/ann/project/dev.sock"};
  const Plan plan = protected_by(View::minimal, {protect("/home/ann/project/dev.sock")}, host);
  EXPECT_TRUE(same(about(plan, "/work/dev.sock"),
                   {HideMount{"/work/dev.sock", PathKind::file, Missing::skip}}));
}

}  // namespace
}  // namespace coop::plan
