// The user's rules: which wins, what they become, what is refused.
#include "policy/builtin.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

HostFacts machine() {
  HostFacts host = anns_machine();
  for (const char* path : {"/opt/sdk", "/opt/sdk/share", "/home/ann/project/build", "/srv/data"})
    add_path(host, path);
  add_path(host, "/etc/motd", PathKind::file);
  return host;
}

Plan with_rules(View view, std::vector<PathRule> rules, const HostFacts& host = machine()) {
  Policy policy = policy_for(view);
  policy.rules = std::move(rules);
  return must_compile(policy, host);
}

TEST(PlanRulesTest, AGrantInTheMinimalViewIsMountedWhereItIsOnTheHost) {
  const Plan plan = with_rules(View::minimal, {rule(RuleKind::read_only, "/opt/sdk"),
                                               rule(RuleKind::read_write, "/srv/data"),
                                               rule(RuleKind::read_only, "/etc/motd")});
  EXPECT_TRUE(same(about(plan, "/opt"), {MakeDirectory{"/opt"}, MakeDirectory{"/opt/sdk"},
                                         BindMount{"/opt/sdk", "/opt/sdk"}}));
  EXPECT_TRUE(same(about(plan, "/srv"), {MakeDirectory{"/srv"}, MakeDirectory{"/srv/data"},
                                         BindMount{"/srv/data", "/srv/data", kReadWrite}}));
  EXPECT_TRUE(
      same(about(plan, "/etc/motd"),
           {MakeFile{"/etc/motd"}, BindMount{"/etc/motd", "/etc/motd", {}, PathKind::file}}));
}

TEST(PlanRulesTest, AGrantInTheHostViewMakesNoMountPoint) {
  const Plan plan = with_rules(View::host, {rule(RuleKind::read_write, "/opt/sdk")});
  EXPECT_TRUE(same(about(plan, "/opt"), {BindMount{"/opt/sdk", "/opt/sdk", kReadWrite}}));
}

TEST(PlanRulesTest, AGrantThatNamesASecretIsNoted) {
  HostFacts host = machine();
  add_path(host, "/home/ann/.ssh");
  add_path(host, "/home/ann/.ssh/config", PathKind::file);
  const auto notes = [&](std::vector<PathRule> own) {
    std::vector<PathRule> rules = policy::secret_rules("/home/ann");
    rules.insert(rules.end(), own.begin(), own.end());
    return with_rules(View::minimal, std::move(rules), host).notes;
  };
  using Notes = std::vector<std::string>;
  const PathRule writable = rule(RuleKind::read_write, "/home/ann/.ssh");
  const Notes shown = notes({writable});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_TRUE(shown.front().ends_with(
      ": \"/home/ann/.ssh\" is on the list of secrets (private keys and known hosts) and is shown, "
      "writable"))
      << shown.front();
  const Notes inner = notes({rule(RuleKind::read_only, "/home/ann/.ssh/config")});
  ASSERT_EQ(inner.size(), 1U);
  EXPECT_TRUE(inner.front().ends_with("(private keys and known hosts) and is shown"))
      << inner.front();
  EXPECT_EQ(notes({rule(RuleKind::tmpfs, "/home/ann/.ssh")}), Notes{});
  EXPECT_EQ(notes({writable, rule(RuleKind::hide, "/home/ann/.ssh")}), Notes{});
  EXPECT_EQ(notes({rule(RuleKind::read_only, "/opt/sdk")}), Notes{});
}

TEST(PlanRulesTest, AWritableGrantOfWhatTheHostObeysIsNoted) {
  HostFacts host = machine();
  add_path(host, "/home/ann/.local/bin");
  const auto notes = [&](RuleKind kind) {
    return with_rules(View::minimal, {rule(kind, "/home/ann/.local/bin")}, host).notes;
  };
  ASSERT_EQ(notes(RuleKind::read_write).size(), 1U);
  EXPECT_TRUE(notes(RuleKind::read_write)
                  .front()
                  .ends_with("and programs of the host obey it: on the PATH of most shells, before "
                             "the system's programs"))
      << notes(RuleKind::read_write).front();
  EXPECT_EQ(notes(RuleKind::read_only), std::vector<std::string>{});
}

TEST(PlanRulesTest, OfTwoRulesForTheSamePathTheLaterWins) {
  for (const View view : {View::minimal, View::host}) {
    const PathRule writable = rule(RuleKind::read_write, "/srv/data");
    const PathRule readable = rule(RuleKind::read_only, "/srv/data");
    const auto binds = [&](const Plan& plan) {
      Actions actions = about(plan, "/srv");
      std::erase_if(actions, [](const Action& action) {
        return std::holds_alternative<MakeDirectory>(action);
      });
      return actions;
    };
    EXPECT_TRUE(
        same(binds(with_rules(view, {writable, readable})), {BindMount{"/srv/data", "/srv/data"}}));
    EXPECT_TRUE(same(binds(with_rules(view, {readable, writable})),
                     {BindMount{"/srv/data", "/srv/data", kReadWrite}}));
    EXPECT_TRUE(same(binds(with_rules(view, {writable, rule(RuleKind::tmpfs, "/srv/data")})),
                     {tmpfs_at("/srv/data")}));
  }
}

TEST(PlanRulesTest, TheMoreSpecificRuleWinsWhateverTheOrder) {
  const PathRule outer = rule(RuleKind::read_write, "/opt/sdk");
  const PathRule inner = rule(RuleKind::read_only, "/opt/sdk/share");
  const Actions expected{BindMount{"/opt/sdk", "/opt/sdk", kReadWrite},
                         BindMount{"/opt/sdk/share", "/opt/sdk/share"}};
  EXPECT_TRUE(same(about(with_rules(View::host, {outer, inner}), "/opt"), expected));
  EXPECT_TRUE(same(about(with_rules(View::host, {inner, outer}), "/opt"), expected));
}

TEST(PlanRulesTest, ARuleInTheWorkspaceFollowsItToItsPlaceInside) {
  const Plan plan =
      with_rules(View::minimal, {rule(RuleKind::read_only, "/home/ann/project/build")});
  EXPECT_TRUE(
      same(about(plan, "/work"), {MakeDirectory{"/work"}, BindMount{kProject, "/work", kReadWrite},
                                  BindMount{"/home/ann/project/build", "/work/build"}}));
  EXPECT_TRUE(same(about(plan, "/home/ann"), {}));
}

TEST(PlanRulesTest, ARuleForTheWorkspaceItselfReplacesItsMount) {
  EXPECT_TRUE(same(about(with_rules(View::minimal, {rule(RuleKind::read_only, kProject)}), "/work"),
                   {MakeDirectory{"/work"}, BindMount{kProject, "/work"}}));
  EXPECT_TRUE(same(about(with_rules(View::host, {rule(RuleKind::overlay, kProject)}), kProject),
                   {MakeDirectory{kProject}, OverlayMount{kProject, kProject, kTmpSize}}));
}

TEST(PlanRulesTest, ASymlinkIsMountedAsWhatItLeadsTo) {
  HostFacts host = machine();
  add_link(host, "/opt/current", "sdk", "/opt/sdk");
  const PathRule through = rule(RuleKind::read_write, "/opt/current");
  EXPECT_TRUE(same(about(with_rules(View::host, {through}, host), "/opt"),
                   {BindMount{"/opt/sdk", "/opt/sdk", kReadWrite}}));
  EXPECT_TRUE(same(about(with_rules(View::minimal, {through}, host), "/opt"),
                   {MakeDirectory{"/opt"}, MakeDirectory{"/opt/current"},
                    BindMount{"/opt/sdk", "/opt/current", kReadWrite}}));
}

TEST(PlanRulesTest, OverlayAndTmpfsTakeTheSizeOfTmp) {
  Policy policy = policy_for(View::host);
  policy.limits.tmp_size = 1 << 20;
  policy.limits.tmp_inodes = 100;
  policy.rules = {rule(RuleKind::overlay, "/opt/sdk"), rule(RuleKind::tmpfs, "/srv/data")};
  const Plan plan = must_compile(policy, machine());
  EXPECT_TRUE(same(about(plan, "/opt"), {OverlayMount{"/opt/sdk", "/opt/sdk", 1 << 20}}));
  EXPECT_TRUE(same(about(plan, "/srv"),
                   {TmpfsMount{.target = "/srv/data", .size = 1 << 20, .inodes = 100}}));
  EXPECT_TRUE(same(about(plan, "/tmp"),
                   {TmpfsMount{.target = "/tmp", .size = 1 << 20, .inodes = 100, .mode = 01777}}));
}

TEST(PlanRulesTest, AMissingPathIsAnErrorWithTheWayOut) {
  for (const RuleKind kind : {RuleKind::read_only, RuleKind::read_write, RuleKind::hide,
                              RuleKind::overlay, RuleKind::tmpfs}) {
    Policy policy = policy_for(View::host);
    policy.rules = {rule(kind, "/no/such")};
    const std::string flag = policy.rules[0].origin.flag;
    const Error error = must_fail(policy, machine());
    EXPECT_EQ(error.kind, Error::Kind::invalid);
    EXPECT_EQ(to_text(error), flag + ": \"/no/such\" does not exist");
    EXPECT_EQ(error.hint, "write " + flag + " '/no/such?' if it may be missing");
  }
}

TEST(PlanRulesTest, AnOptionalMissingPathChangesNothing) {
  for (const View view : {View::minimal, View::host}) {
    const Plan without = with_rules(view, {});
    for (const RuleKind kind : {RuleKind::read_only, RuleKind::read_write, RuleKind::hide,
                                RuleKind::overlay, RuleKind::tmpfs}) {
      PathRule optional = rule(kind, "/no/such");
      optional.if_missing = Missing::skip;
      EXPECT_EQ(with_rules(view, {optional}), without);
    }
  }
}

TEST(PlanRulesTest, AHostileNameIsPrintedHarmlessly) {
  Policy policy = policy_for(View::host);
  policy.rules = {rule(RuleKind::read_only, "/a\x1b[2J\n")};
  EXPECT_EQ(to_text(must_fail(policy, machine())), "--ro: \"/a\\x1b[2J\\x0a\" does not exist");
}

TEST(PlanRulesTest, DoorsAndWholeMachinesAreRefused) {
  HostFacts host = machine();
  add_path(host, "/srv/daemon.sock", PathKind::socket);
  add_path(host, "/dev/sda", PathKind::device);
  add_path(host, "/");
  const auto refusal = [&](RuleKind kind, const char* path) {
    Policy policy = policy_for(View::host);
    policy.rules = {rule(kind, path)};
    return to_text(must_fail(policy, host));
  };
  EXPECT_EQ(refusal(RuleKind::read_only, "/srv/daemon.sock"),
            "--ro: \"/srv/daemon.sock\" is a socket");
  EXPECT_EQ(refusal(RuleKind::read_write, "/dev/sda"), "--rw: \"/dev/sda\" is a device");
  EXPECT_EQ(refusal(RuleKind::read_write, "/"), "--rw: \"/\" is the whole machine");
  EXPECT_EQ(refusal(RuleKind::hide, "/"), "--hide: \"/\" is the whole machine");
  EXPECT_EQ(refusal(RuleKind::overlay, "/etc/motd"), "--overlay: \"/etc/motd\" is not a directory");
  EXPECT_EQ(refusal(RuleKind::tmpfs, "/etc/motd"), "--tmpfs: \"/etc/motd\" is not a directory");
  EXPECT_EQ(refusal(RuleKind::hide, kProject),
            std::string("--hide: \"") + kProject + "\" is the workspace itself");
}

// As well as in their usual places: where variables and symlinks move them, and below a bind mount of the host.
TEST(PlanRulesTest, CoopsOwnDirectoriesAreRefusedUnderEveryName) {
  HostFacts host = machine();
  host.account_home = "/home/account";
  host.environment["XDG_CONFIG_HOME"] = "/srv/cfg";
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/cfg", .target = "/opt/cfg"}};
  add_link(host, host.state_directory, "", "/srv/state/coop");
  for (const char* path :
       {"/srv/cfg/coop", "/srv/cfg/other", "/opt/cfg/coop", "/srv/state/coop/runs",
        "/home/ann/.config/coop", "/home/account/.config/coop", "/etc/coop"})
    add_path(host, path);
  Policy policy = policy_for(View::minimal);
  for (const char* path : {"/srv/cfg/coop", "/opt/cfg/coop", "/srv/state/coop/runs",
                           "/home/ann/.config/coop", "/home/account/.config/coop", "/etc/coop"}) {
    policy.rules = {rule(RuleKind::read_write, path)};
    EXPECT_EQ(to_text(must_fail(policy, host)),
              std::string("--rw: \"") + path + "\" contains coop's state or policies");
  }
  policy.rules = {rule(RuleKind::read_write, "/srv/cfg/other")};
  must_compile(policy, host);
  const std::vector<Path> wanted = wanted_paths(policy, host);
  for (const char* path : {"/srv/cfg/coop", "/home/ann/.local/state/coop", "/etc/coop"})
    EXPECT_NE(std::ranges::find(wanted, path), wanted.end()) << path;
}

// A machine may have a /work of its own, which the workspace covers in the minimal view.
TEST(PlanRulesTest, APathWhereTheWorkspaceIsInsideIsRefused) {
  HostFacts host = machine();
  add_path(host, "/work/tools");
  add_path(host, "/work");
  for (const char* const path : {"/work", "/work/tools"}) {
    Policy policy = policy_for(View::minimal);
    policy.rules = {rule(RuleKind::read_only, path)};
    EXPECT_EQ(
        to_text(must_fail(policy, host)),
        std::string("--ro: \"") + path + "\" keeps its path inside, where /work is the workspace");
    policy.view = View::host;
    EXPECT_TRUE(plan::compile(policy, host));
  }
}

TEST(PlanRulesTest, EveryStepKnowsWhoAskedForIt) {
  const Plan plan = with_rules(View::minimal, {rule(RuleKind::read_write, "/srv/data")});
  for (const Step& step : plan.steps) {
    EXPECT_NE(step.origin, Origin{}) << sentence(step.action);
    EXPECT_FALSE(step.why.empty()) << sentence(step.action);
  }
  const auto asked = std::ranges::find(
      plan.steps, Action{BindMount{"/srv/data", "/srv/data", kReadWrite}}, &Step::action);
  ASSERT_NE(asked, plan.steps.end());
  EXPECT_EQ(*asked, (Step{BindMount{"/srv/data", "/srv/data", kReadWrite}, Origin::of_flag("--rw"),
                          "asked for"}));
}

}  // namespace
}  // namespace coop::plan
